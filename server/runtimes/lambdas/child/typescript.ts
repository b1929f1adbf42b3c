import { readFileSync } from 'node:fs';
import Module from 'node:module';
import { basename, dirname, join } from 'node:path';
import { reasonOf } from '../../../model/errors.ts';
import { reportedPlace, type SyntaxErrorPlace } from './source-place.ts';

const EXTENSIONS = ['.ts', '.cts', '.mts'];
/** `Error transforming index.ts: Unexpected token (3:11)` */
const READER_SAYS = /^(?:Error transforming .*?: )?(.*) \((\d+):(\d+)\)$/;

type Load = (module: { _compile(code: string, file: string): void }, file: string) => void;

export class TypeScriptError extends Error {
  readonly position: SyntaxErrorPlace;

  constructor(reason: string, position: SyntaxErrorPlace) {
    super(`${reportedPlace(position)}: ${reason}`);
    this.position = position;
  }
}

/** Makes TypeScript modules loadable with `require`, and the file `also` under any name. Traces show lines and columns of the source. */
export function acceptTypeScript(also?: string): void {
  // As: deprecated in words, and what every tool of this kind relies on.
  const extensions = (Module as unknown as { _extensions: Record<string, Load> })._extensions;
  const load: Load = (module, file) => module._compile(withoutTypes(file), file);
  process.setSourceMapsEnabled(true);
  typeScriptParser().acceptTypeScriptImports();
  for (const extension of EXTENSIONS) extensions[extension] = load;
  const loadJavaScript = extensions['.js'];
  if (also === undefined || !loadJavaScript) return;
  extensions['.js'] = (module, file) => (file === also ? load(module, file) : loadJavaScript(module, file));
}

export function isTypeScript(file: string): boolean {
  return EXTENSIONS.some((extension) => file.endsWith(extension));
}

/** Loads the file beside the child's bundle (scripts/build-child.mjs) that hardly any lambda needs. */
function typeScriptParser(): typeof import('./typescript-parser.ts') {
  const file: string = join(dirname(__filename), 'lambda-typescript.cjs');
  return require(file);
}

/** The source as CommonJS, with a map of its columns. Throws TypeScriptError. */
export function withoutTypes(file: string): string {
  const { transform } = typeScriptParser();
  try {
    const transforms: ('typescript' | 'imports')[] = ['typescript', 'imports'];
    const { code, sourceMap } = transform(readFileSync(file, 'utf8'), {
      transforms,
      disableESTransforms: true,
      preserveDynamicImport: true,
      keepUnusedImports: false,
      filePath: file,
      sourceMapOptions: { compiledFilename: file },
    });
    const map = Buffer.from(JSON.stringify(sourceMap)).toString('base64');
    return `${code}\n//# sourceMappingURL=data:application/json;base64,${map}`;
  } catch (thrown) {
    const message = reasonOf(thrown);
    const [, reason = message, line = 1, column = 1] = READER_SAYS.exec(message) ?? [];
    throw new TypeScriptError(reason, { file: basename(file), line: Number(line), column: Number(column) });
  }
}
