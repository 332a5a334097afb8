// Health check command for container engines: exits with 0 when the service of this container is ready, else with 1 after printing the reason.
const port = process.env.BINDERY_HEALTH_PORT ?? '8080';
try {
  const response = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(4_000) });
  if (!response.ok) console.log(await response.text());
  process.exitCode = response.ok ? 0 : 1;
} catch (error) {
  console.log(`Nothing answers on port ${port}: ${error.cause?.message ?? error.message}`);
  process.exitCode = 1;
}
