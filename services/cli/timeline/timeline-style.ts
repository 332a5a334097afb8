import { chartStyle } from '#shared/timeline/chart-style.ts';

/** Style sheet of the file with a timeline, light and dark, from phone to desktop. */
export const timelineStyle = `${chartStyle}
:root {
  --ground: oklch(0.985 0.003 262); --surface: #fff; --text: oklch(0.25 0.02 262); --muted: oklch(0.5 0.02 262);
  --line: oklch(0.25 0.03 262 / 0.1); --idle: oklch(0.25 0.03 262 / 0.3);
  --queued: oklch(0.87 0.01 262); --chunk: oklch(0.58 0.15 262); --reused: oklch(0.84 0.06 262);
  --again: oklch(0.74 0.15 70); --closing: oklch(0.6 0.15 310); --bundle: oklch(0.62 0.1 190);
  --good: oklch(0.5 0.12 155); --bad: oklch(0.56 0.19 27); --warn: oklch(0.6 0.14 60); --on-phase: #fff;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: oklch(0.165 0.008 262); --surface: oklch(0.2 0.01 262); --text: oklch(0.93 0.008 262); --muted: oklch(0.7 0.015 262);
    --line: oklch(1 0 0 / 0.09); --idle: oklch(1 0 0 / 0.28);
    --queued: oklch(0.36 0.012 262); --chunk: oklch(0.68 0.14 262); --reused: oklch(0.42 0.08 262);
    --again: oklch(0.8 0.14 75); --closing: oklch(0.7 0.14 310); --bundle: oklch(0.72 0.1 190);
    --good: oklch(0.76 0.13 155); --bad: oklch(0.7 0.17 25); --warn: oklch(0.8 0.13 70); --on-phase: oklch(0.17 0.01 262);
  }
}
* { box-sizing: border-box; margin: 0; }
body {
  background: var(--ground); color: var(--text); -webkit-text-size-adjust: 100%;
  font: 15px/24px ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
main { max-width: 1160px; margin: 0 auto; padding: 48px 32px 72px; }
code, td { font-variant-numeric: tabular-nums; }
code { font: 13px/22px ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; font-variant-ligatures: none; overflow-wrap: anywhere; }
small { font-size: 13px; color: var(--muted); }
h2 { font-size: 16px; line-height: 26px; font-weight: 600; margin: 40px 0 8px; }

header { display: flex; flex-wrap: wrap; align-items: center; column-gap: 16px; }
.eyebrow { width: 100%; font-size: 13px; line-height: 20px; color: var(--muted); }
h1 { font-size: 30px; line-height: 40px; font-weight: 650; letter-spacing: -0.02em; overflow-wrap: anywhere; }
h1 .label { font-weight: 400; color: var(--muted); margin-left: 0.35em; }
.outcome { font-weight: 550; font-size: 14px; display: flex; align-items: center; gap: 8px; padding: 2px 12px 2px 10px; border: 1px solid var(--line); border-radius: 99px; background: var(--surface); }
.outcome::before { content: ""; width: 8px; height: 8px; border-radius: 50%; background: currentColor; }
.completed { color: var(--good); } .failed { color: var(--bad); } .cancelled { color: var(--warn); } .running { color: var(--chunk); }
.error, .replay { flex: 0 0 100%; margin-top: 8px; overflow-wrap: anywhere; }
.error { color: var(--bad); } .replay { color: var(--muted); }
.meta { width: 100%; display: flex; flex-wrap: wrap; gap: 4px 24px; margin-top: 12px; color: var(--muted); font-size: 13px; line-height: 22px; }
.meta div { display: flex; gap: 8px; min-width: 0; } .meta dt { flex: none; } .meta dd { color: var(--text); min-width: 0; }

.figures { display: grid; grid-template-columns: repeat(6, 1fr); margin-top: 28px; border: 1px solid var(--line); border-radius: 14px; background: var(--surface); overflow: hidden; }
.figures div { padding: 14px 18px 12px; box-shadow: -1px -1px 0 var(--line); }
.figures dt { font-size: 13px; line-height: 20px; color: var(--muted); }
.figures dd { font-size: 22px; line-height: 30px; font-weight: 600; letter-spacing: -0.01em; font-variant-numeric: tabular-nums; }
.figures small { display: block; font-weight: 400; letter-spacing: 0; line-height: 18px; min-height: 18px; }

.troubles { list-style: none; padding: 0; border-top: 1px solid var(--line); }
.troubles li { display: grid; grid-template-columns: 72px 18px 1fr; column-gap: 12px; padding: 9px 0; border-bottom: 1px solid var(--line); }
.troubles time { text-align: right; color: var(--muted); font-variant-numeric: tabular-nums; }
.troubles .sign { padding-top: 3px; } .troubles p { overflow-wrap: anywhere; }
.remedy { color: var(--muted); white-space: nowrap; } .remedy::before { content: "→ "; }
.sum { margin-top: 32px; color: var(--muted); max-width: 75ch; }
details { margin-top: 12px; }
summary { cursor: pointer; font-weight: 550; padding: 4px 0; border-radius: 6px; width: max-content; }
summary:focus-visible { outline: 2px solid var(--chunk); outline-offset: 3px; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin-top: 8px; font-size: 13px; line-height: 20px; }
th { text-align: left; font-weight: 500; color: var(--muted); }
th, td { padding: 7px 16px 7px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td strong { font-weight: 550; } .number { text-align: right; white-space: nowrap; } .facts { color: var(--muted); overflow-wrap: anywhere; min-width: 16em; }
thead th:nth-child(-n+2) { text-align: right; }

@media (max-width: 900px) {
  .figures { grid-template-columns: repeat(3, 1fr); }
}
@media (max-width: 680px) {
  main { padding: 28px 16px 48px; }
  h1 { font-size: 26px; line-height: 34px; }
  .figures { grid-template-columns: repeat(2, 1fr); }
  .meta { display: grid; gap: 2px; }
  .troubles li { grid-template-columns: 18px 1fr; } .troubles time { grid-column: 2; grid-row: 1; text-align: left; } .troubles .sign { grid-row: 1 / span 2; } .troubles p { grid-column: 2; }
  thead { display: none; } tr { display: block; padding: 8px 0; border-bottom: 1px solid var(--line); } td { display: inline; padding: 0 8px 0 0; border: 0; } .facts { display: block; }
}
@media print { body { background: #fff; } .figures { break-inside: avoid; } }
`;
