import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, it } from 'vitest';

const css = readFileSync(new URL('./tokens.css', import.meta.url), 'utf8');
const colours = new Map(
  [...css.matchAll(/--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g)].map(([, name, light, dark]) => [
    name,
    { light, dark },
  ]),
);

const SURFACES = ['bg', 'panel', 'raised', 'overlay', 'accent-soft'];
const TEXTS = ['text', 'muted', 'faint', 'accent', 'ok', 'warn', 'error', 'running', 'idle'];
const PAIRS = [
  ...TEXTS.flatMap((text) => SURFACES.map((surface) => [text, surface] as const)),
  ['on-accent', 'accent'] as const,
  ['on-accent', 'accent-strong'] as const,
  ['on-accent', 'text'] as const,
  ['on-accent', 'error'] as const,
  ...(['error', 'warn'] as const).flatMap((state) => [
    [state, `${state}-soft`] as const,
    ['text', `${state}-soft`] as const,
  ]),
];

/** Relative luminance, as WCAG 2.2 defines it. */
function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(first: string, other: string): number {
  const [high = 0, low = 0] = [luminance(first), luminance(other)].sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}

it.each(['light', 'dark'] as const)(
  'has a contrast of 4.5:1 for every text on every surface in the %s theme',
  (theme) => {
    const weak = PAIRS.map(([text, surface]) => {
      const ratio = contrast(colours.get(text)?.[theme] ?? '#808080', colours.get(surface)?.[theme] ?? '#808080');
      return { pair: `${text} on ${surface}`, ratio: Math.round(ratio * 100) / 100 };
    }).filter(({ ratio }) => ratio < 4.5);
    expect(weak).toEqual([]);
  },
);

it('gives texts of one colour in one theme one colour in the other, for which the journeys take them to be the same', () => {
  const texts = [...TEXTS, 'on-accent'].map((name) => colours.get(name));
  for (const text of texts) {
    for (const other of texts) expect(text?.light === other?.light).toBe(text?.dark === other?.dark);
  }
});

it('has texts of four sizes, and two typefaces of at most 150 kB', () => {
  const folder = new URL('..', import.meta.url);
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.(tsx|css)$/.test(name),
  );
  const texts = sources.map((name) => readFileSync(new URL(name, folder), 'utf8')).join('\n');
  const sizes = [...texts.matchAll(/(?:font(?:-size)?: |--text-[a-z]+: |text-\[)([\d.]+)px/g)].map(([, px]) =>
    Number(px),
  );
  expect([...new Set(sizes)].sort((a, b) => a - b)).toEqual([12, 13, 15, 20]);
  const fonts = [...texts.matchAll(/url\("(@fontsource[^"]+)"\)/g)].map(([, path = '']) => path);
  const bytes = fonts.map((path) => statSync(createRequire(import.meta.url).resolve(path)).size);
  expect(bytes).toHaveLength(2);
  expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThan(150_000);
});
