import { readFileSync } from 'node:fs';
import Module from 'node:module';
import { basename, dirname, join } from 'node:path';

const EXTENSIONS = ['.ts', '.cts', '.mts'];

type Load = (module: { _compile(code: string, file: string): void }, file: string) => void;

/** A source that cannot be read as TypeScript; `line` is counted from 1. */
export class TypeScriptError extends Error {
  readonly line: number;

  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}

/**
 * From now on modules in TypeScript can be required: types are left out, imports become requires, and every line stays where it
 * is, so that traces need no map. With `also`, that file is one of them, whatever it is called.
 */
export function acceptTypeScript(also?: string): void {
  // As: deprecated in words, and what every tool of this kind relies on.
  const extensions = (Module as unknown as { _extensions: Record<string, Load> })._extensions;
  const load: Load = (module, file) => module._compile(withoutTypes(file), file);
  for (const extension of EXTENSIONS) extensions[extension] = load;
  const own = extensions['.js'];
  if (also === undefined || !own) return;
  extensions['.js'] = (module, file) => (file === also ? load(module, file) : own(module, file));
}

/** By its name. */
export function isTypeScript(file: string): boolean {
  return EXTENSIONS.some((extension) => file.endsWith(extension));
}

/** The source as CommonJS. Throws TypeScriptError. */
export function withoutTypes(file: string): string {
  // Beside the child's bundle (scripts/build-child.mjs), not in it: hardly any lambda needs it.
  const parser: string = join(dirname(__filename), 'lambda-typescript.cjs');
  const { transform } = require(parser) as typeof import('./typescript-parser.ts');
  try {
    const transforms: ('typescript' | 'imports')[] = ['typescript', 'imports'];
    const options = { transforms, disableESTransforms: true, preserveDynamicImport: true, keepUnusedImports: false };
    return transform(readFileSync(file, 'utf8'), options).code;
  } catch (thrown) {
    const [, reason = String(thrown), line] = /^(?:Error: )?(.*) \((\d+):\d+\)$/.exec(messageIn(thrown)) ?? [];
    const place = `${basename(file)}, line ${line ?? 1}`;
    throw new TypeScriptError(`syntax error in ${place}: ${reason}`, Number(line ?? 1));
  }
}

function messageIn(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
