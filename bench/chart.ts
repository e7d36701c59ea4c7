/** A light bar that begins with a dark one; the bars of a panel have one scale. */
export interface Bar {
  readonly panel: string;
  readonly group: string;
  readonly name: string;
  readonly dark: number;
  readonly light: number;
}

const width = 760;
const left = 190;
const longest = 430;

// Blue and orange differ for color-blind readers too, on a white and on a black ground.
const style = `
  .ground { fill: #ffffff } text { fill: #1f2328; font: 12px system-ui, sans-serif }
  .title { font-size: 15px; font-weight: 600 } .panel { font-weight: 600 }
  .bare { fill: #8c959f } .Fastify { fill: #2f81d8 } .Rostrum { fill: #d9772b }
  .light { opacity: 0.45 }
  @media (prefers-color-scheme: dark) { .ground { fill: #0d1117 } text { fill: #e6edf3 } }
`;

/** A chart of horizontal bars as an SVG document, which follows the reader's light or dark mode. */
export function barChart(title: string, unit: string, bars: readonly Bar[]): string {
  const parts: string[] = [];
  let y = 28;
  const text = (x: number, content: string, attributes = '') =>
    parts.push(`<text x="${x.toFixed(1)}" y="${y}" ${attributes}>${escaped(content)}</text>`);
  const rect = (kind: string, length: number) => {
    const size = `width="${length.toFixed(1)}" height="13"`;
    parts.push(`<rect x="${left}" y="${y - 10}" ${size} class="${kind}"/>`);
  };

  text(20, title, 'class="title"');
  let [panel, group] = ['', ''];
  let scale = 1;
  for (const bar of bars) {
    if (bar.panel !== panel) {
      [panel, group] = [bar.panel, ''];
      const ofPanel = bars.filter((other) => other.panel === panel);
      scale = longest / Math.max(...ofPanel.map(({ light }) => light));
      y += 30;
      text(20, panel, 'class="panel"');
    } else if (bar.group !== group) {
      y += 6;
    }
    if (bar.group !== group) text(left - 60, bar.group, 'text-anchor="end"');
    group = bar.group;
    text(left - 8, bar.name, 'text-anchor="end"');
    rect(`${bar.name} light`, bar.light * scale);
    rect(bar.name, bar.dark * scale);
    const numbers = new Set([bar.dark, bar.light].map((value) => shown(value)));
    text(left + bar.light * scale + 6, `${[...numbers].join(' · ')} ${unit}`);
    y += 17;
  }
  const size = `viewBox="0 0 ${width} ${y}" width="${width}" height="${y}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" role="img" ${size}>
<title>${escaped(title)}</title><style>${style}</style>
<rect class="ground" width="100%" height="100%" rx="6"/>
${parts.join('\n')}
</svg>
`;
}

function shown(value: number): string {
  return value < 10 ? value.toFixed(1) : value.toFixed(0);
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
