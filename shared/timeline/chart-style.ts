/** Style sheet of the timeline's chart (class `chart`), light and dark, from phone to desktop. Colour is used only where it has a meaning. */
export const chartStyle = `
.chart {
  --chart-ground: light-dark(#fff, oklch(0.2 0.01 262)); --chart-text: light-dark(oklch(0.5 0.02 262), oklch(0.7 0.015 262));
  --chart-line: light-dark(oklch(0.25 0.03 262 / 0.1), oklch(1 0 0 / 0.09)); --idle: light-dark(oklch(0.25 0.03 262 / 0.3), oklch(1 0 0 / 0.28));
  --queued: light-dark(oklch(0.87 0.01 262), oklch(0.36 0.012 262)); --chunk: light-dark(oklch(0.58 0.15 262), oklch(0.68 0.14 262));
  --reused: light-dark(oklch(0.84 0.06 262), oklch(0.42 0.08 262)); --again: light-dark(oklch(0.74 0.15 70), oklch(0.8 0.14 75));
  --closing: light-dark(oklch(0.6 0.15 310), oklch(0.7 0.14 310)); --bundle: light-dark(oklch(0.62 0.1 190), oklch(0.72 0.1 190));
  --mended: light-dark(oklch(0.5 0.12 155), oklch(0.76 0.13 155)); --failed: light-dark(oklch(0.56 0.19 27), oklch(0.7 0.17 25));
  --late: light-dark(oklch(0.6 0.14 60), oklch(0.8 0.13 70)); --on-phase: light-dark(#fff, oklch(0.17 0.01 262));
  --names: 200px; --gap: 20px;
  position: relative; margin-top: 16px; padding: 48px 24px 20px; border: 1px solid var(--chart-line); border-radius: 14px; background: var(--chart-ground);
}
.chart .ticks { position: absolute; inset: 20px 24px 20px calc(24px + var(--names) + var(--gap)); }
.chart .ticks line { stroke: var(--chart-line); stroke-width: 1px; }
.chart .ticks text { font-size: 12px; fill: var(--chart-text); font-variant-numeric: tabular-nums; }
.chart .ticks .late { text-anchor: end; }
.chart .row { position: relative; display: grid; grid-template-columns: var(--names) 1fr; column-gap: var(--gap); align-items: center; padding: 9px 0; }
.chart .row + .row { border-top: 1px solid var(--chart-line); }
.chart .name { font-size: 14px; line-height: 20px; min-width: 0; overflow-wrap: anywhere; }
.chart .name small { display: block; font-size: 13px; line-height: 18px; color: var(--chart-text); }
.chart .phases .name, .chart .trouble .name { color: var(--chart-text); }
.chart svg { display: block; overflow: visible; }
.chart .phase { fill: var(--phase); background: var(--phase); stroke: var(--chart-ground); stroke-width: 1px; }
.chart .queued { --phase: var(--queued); } .chart .rendering { --phase: var(--chunk); } .chart .phase.closing { --phase: var(--closing); } .chart .joining { --phase: var(--bundle); }
.chart .phases rect { rx: 4px; }
.chart .phases text { font-size: 12px; font-weight: 550; fill: var(--on-phase); pointer-events: none; }
.chart .bar { fill: var(--fill); background: var(--fill); rx: 3px; stroke: var(--chart-ground); stroke-width: 1px; }
.chart .bar.chunk { --fill: var(--chunk); } .chart .bar.again { --fill: var(--again); } .chart .bar.closing { --fill: var(--closing); } .chart .bar.bundle { --fill: var(--bundle); }
.chart .bar.chunk.reused { --fill: var(--reused); }
.chart .bar.closing.reused { fill-opacity: 0.5; }
.chart g:hover > .bar, .chart g:hover > .phase { filter: brightness(1.12); }
.chart .wait rect { fill: transparent; }
.chart .wait line { stroke: var(--idle); stroke-width: 2px; stroke-linecap: round; stroke-dasharray: 0.1 7; }
.chart .mend { stroke: var(--mended); stroke-width: 1.5px; } .chart .mended { fill: var(--mended); }
.chart .legend { position: relative; list-style: none; display: flex; flex-wrap: wrap; gap: 4px 20px; margin: 0; padding: 16px 0 0; border-top: 1px solid var(--chart-line); font-size: 13px; line-height: 22px; color: var(--chart-text); background: var(--chart-ground); }
.chart .legend li { display: flex; align-items: center; gap: 8px; white-space: nowrap; }
.chart .swatch { width: 12px; height: 12px; border-radius: 3px; }
.chart .swatch.waiting { height: 0; width: 18px; border-radius: 0; border-top: 2px dotted var(--idle); }
.sign { --failed: light-dark(oklch(0.56 0.19 27), oklch(0.7 0.17 25)); --late: light-dark(oklch(0.6 0.14 60), oklch(0.8 0.13 70)); }
.sign circle { fill: var(--chart-ground, transparent); stroke: currentColor; stroke-width: 1.5px; }
.sign path { fill: none; stroke: currentColor; stroke-width: 1.5px; stroke-linecap: round; stroke-linejoin: round; }
.sign.failed { color: var(--failed); } .sign.timed-out, .sign.segment-lost { color: var(--late); }
@media (max-width: 680px) {
  .chart { padding: 44px 16px 16px; --names: 0px; --gap: 0px; }
  .chart .ticks { inset: 18px 16px 16px 16px; } .chart .ticks .odd { display: none; }
  .chart .row { display: block; } .chart .row .track { padding-top: 6px; }
  .chart .name { display: inline-block; position: relative; background: var(--chart-ground); padding-right: 8px; }
  .chart .phases text { display: none; }
}
@media print { .chart { break-inside: avoid; } }
`;
