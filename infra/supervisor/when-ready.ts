/** Resolves once `<url>/readyz` answers 200; rejects with what is still missing when that takes too long. */
export async function whenReady(service: string, url: string, deadlineMs: number): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  let missing = 'it does not listen';
  while (performance.now() < deadline) {
    try {
      const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(3_000) });
      if (response.ok) return;
      missing = await response.text();
    } catch {
      missing = 'it does not listen';
    }
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`The ${service} was not ready within ${deadlineMs / 1000} s: ${missing}`);
}
