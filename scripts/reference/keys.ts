import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { screenNames, screens } from '../../renderer/src/screens/registry.ts';
import { root } from '../read-docs.ts';
import { code, table } from './markdown.ts';

/** A binding in the sources: its keys and its text, in any order, in one object. */
const BINDING = /\{[^{}]*\bkeys: (?:\w+ \? )?'([^']+)'[^{}]*/g;

/** The keys of the window, from the components that bind them. */
export function windowKeys(): string {
  const folder = join(root, 'renderer', 'src');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name),
  );
  const bound = files.sort().flatMap((name) =>
    [...readFileSync(join(folder, name), 'utf8').matchAll(BINDING)].map(([text, keys = '']): [string, string] => {
      const [, does] = /\b(?:does|text): (?:isPresenting \? )?'([^']+)'/.exec(text) ?? [];
      return [keys, does ?? 'Search in the list'];
    }),
  );
  const opens = screenNames.map((name): [string, string] => [
    `g ${screens[name].letter}`,
    `Open ${screens[name].title}`,
  ]);
  const rows = [...opens, ...bound].map(([keys, does]) => [
    code(keys.replace(/^mod\+(.)/, (_, letter: string) => `Ctrl ${letter.toUpperCase()}`)),
    does,
  ]);
  const different = new Map(rows.map((row) => [row.join(), row]));
  return table(
    ['key', 'does'],
    [...different.values()].sort(([a = ''], [b = '']) => (a < b ? -1 : 1)),
  );
}
