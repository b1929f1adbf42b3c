import type { CodeBlock } from '../scripts/read-docs.ts';

const SHELLS: readonly string[] = ['sh', 'bash', 'console'];

export const isShell = ({ language }: CodeBlock) => SHELLS.includes(language);
export const isNotRun = ({ info }: CodeBlock) => info.startsWith('not-run: ');
/** A block that only a clean clone of the repository can run. */
export const isInClone = ({ info }: CodeBlock) => info === 'in-clone';

/** The output that a page shows below a block of commands: nothing if no block `text` or `json` follows. */
export function expectedOutput(blocks: readonly CodeBlock[], index: number): string {
  const next = blocks[index + 1];
  return next && ['text', 'json'].includes(next.language) && !next.info ? next.text : '';
}

/** Returns true if the output matches the pattern, in which `...` matches any text. */
export function fits(output: string, expected: string): boolean {
  const tidy = (text: string) => text.replace(/[ \t]+$/gm, '').trim();
  const pattern = tidy(expected)
    .split('...')
    .map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`^${pattern.join('[\\s\\S]*?')}$`).test(tidy(output));
}
