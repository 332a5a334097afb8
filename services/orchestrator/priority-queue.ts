/** A queue of distinct items in order. Reading the first takes constant time; everything else is logarithmic in the size. */
export type PriorityQueue<T> = {
  readonly size: number;
  first(): T | undefined;
  /** Adds an item, or moves it after its order has changed. All other items must be unchanged. */
  put(item: T): void;
  /** Does nothing if the item is not in the queue. */
  remove(item: T): void;
};

type Node<T> = { item: T; place: number };

/** A binary heap with an index of its items. `isBefore` is a strict order. */
export function priorityQueue<T>(isBefore: (a: T, b: T) => boolean): PriorityQueue<T> {
  const heap: Node<T>[] = [];
  const nodes = new Map<T, Node<T>>();

  const set = (place: number, node: Node<T>): void => {
    heap[place] = node;
    node.place = place;
  };
  const isSmaller = (a: number, b: Node<T>): boolean => isBefore((heap[a] as Node<T>).item, b.item);

  /** Moves a node up or down until the order holds; at most one of the two does anything. */
  function settle(node: Node<T>): void {
    let { place } = node;
    while (place > 0) {
      const above = heap[(place - 1) >> 1] as Node<T>;
      if (!isBefore(node.item, above.item)) break;
      const free = above.place;
      set(place, above);
      place = free;
    }
    for (;;) {
      let below = 2 * place + 1;
      if (below + 1 < heap.length && isSmaller(below + 1, heap[below] as Node<T>)) below += 1;
      if (below >= heap.length || !isSmaller(below, node)) break;
      set(place, heap[below] as Node<T>);
      place = below;
    }
    set(place, node);
  }

  return {
    get size() {
      return heap.length;
    },
    first: () => heap[0]?.item,
    put(item) {
      const known = nodes.get(item);
      const node = known ?? { item, place: heap.length };
      if (known === undefined) {
        heap.push(node);
        nodes.set(item, node);
      }
      settle(node);
    },
    remove(item) {
      const node = nodes.get(item);
      if (node === undefined) return;
      nodes.delete(item);
      const last = heap.pop() as Node<T>;
      if (last === node) return;
      set(node.place, last);
      settle(last);
    },
  };
}
