import { describe, expect, it } from 'vitest';
import { micromarkPageParser } from './micromark-page-parser.ts';
import { comparable, pageParserContract } from './page-parser.contract.ts';
import { satteriPageParser } from './satteri-page-parser.ts';

describe('satteri', () => pageParserContract(satteriPageParser));

describe('makes the same trees as micromark', () => {
  it.each([
    '# A *b* `c`\n\n- d\n- [x] e\n\n1. f\n\n> g\n\n---\n\n| h | i |\n| :- | -: |\n| j | k |\n',
    '[a](/b "c") ![d](e.png) <https://f.example> https://g.example ~~h~~ i\\\nj  \nk[^l]\n\n[^l]: m\n\n[n]: /o\n\n[n][] &amp; é 𝒳 \\*\n',
    '<Card title="A" b={1 + 2} {...c} d>\n  text **e**\n\n  <F.G />\n</Card>\n',
    '<Note>one line with `code`</Note>\n',
    '<a href="b">c</a>\n',
    '<Badge>a</Badge> <Badge>b</Badge>\n',
    '<Icon /> <Badge>a</Badge>\nnext line\n',
    '# a\n<Badge>b</Badge>\n# c\n<Badge>d</Badge>\n\ne\n===\n<Badge>f</Badge>\n## g\n',
    '<Badge>a</Badge>\nb\n---\n<Badge>c</Badge>\n---\n',
    '> # a\n> <Badge>b</Badge>\n<Badge>c</Badge>\n\n- # d\n  <Badge>e</Badge>\n- <Badge>f</Badge>\n  # g\n',
    '<Card>\n  # a\n  <Badge>b *c*</Badge>\n  # d\n</Card>\n',
    '# a\n<Badge>b</Badge> <Badge>c</Badge>\n<Badge>d</Badge>\n# e\n{f} {g}\n',
    '# a\n<Badge>b</Badge>\n    # c\n<Badge>\nd</Badge>\n# e\n',
    '<Tabs>\n  <Tab title="x">y</Tab>\n  <Tab title="z">\n    ```js title="q" {1}\n    w\n    ```\n  </Tab>\n</Tabs>\n',
    'import A from "/b.mdx"\nexport const c = { d: [1, \'e\'] }\n\n{c.d.map((f) => <b key={f}>{f}</b>)}\n\ntext {/* note */} {c?.d ?? `x${1}`}\n',
    '{\n  // note\n}\n\n{\n  [1,\n   2]\n}\n',
    'é 𝒳 <b>é</b> {"é"}\n\n<Card title="é">\n\n## é {#id}\n\n</Card>\n',
    'Costs $5 or $10, and $x$ is math.\n\n$$\na {b}\n$$\n',
    'é $a$ *b* [c](/d) `$e` ~~f~~ https://g.example $h_1 * i_2$\n\n- j\n- $k$ l\n\n  > - [x] m $n$\n  > - o $p$ ![q](r)\n\n# $s$\n',
    '$a$ [b] [c][b]\n\n[b]: /d\n',
    '$a$ [b]: c\n\n- $d$ <b>e</b>\n\n1. $f\n   g$ h\n',
    '| $a$ |\n| - |\n| b |\n\nc $d$[^e]\n\n[^e]: f $g$\n',
    '# **한국**: a\n\n- **日本**（x）**中文**：b\n  _한국_ `**`\n\n| **가**(a) | 나**(b)**다 |\n| - | - |\n| **라**: [**마**, 바](/c) | \\**사**. |\n',
    '**한(국)**은 **a*b*「c」** d*「e」*f\n\n- **[가**나](/b)**다**(라)\n\n> *가*, **나**: ***다***. _라_(마)_바_\n',
    '![**가**: *나](/b.png) **다**: ☺\ufe0e**라** <b>**마**: {1}</b>\n',
    'Text\n$$\na\n+ b\n$$\n\n$$ c\n- d $$\n\n- e\n\n  $$\n  f\n  $$\n\n$$\n\n- g\n',
    '{1} {2}\n\n{3}\n{4}\n\n{5} <b />\n\n<A /> {6}\n\n<A /><B />\n<C />\n',
    'A <b> that is open\n',
    'A { that is open\n',
    '{a b}\n',
    'export default 1\nconst a = 2\n',
    '<A b={} />\n',
    '<A {b} />\n',
    '<A {...b, c} />\n',
    '    indented\n\n<div>\n    indented\n</div>\n',
  ])('%j', (source) => {
    expect(comparable(satteriPageParser.parse(source, 'a.mdx'))).toEqual(
      comparable(micromarkPageParser.parse(source, 'a.mdx')),
    );
  });
});
