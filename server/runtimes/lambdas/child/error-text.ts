import { pathToFileURL } from 'node:url';

const { stringify } = JSON;

/** A chain of causes may be a circle. */
const MAX_CAUSE_DEPTH = 5;
const MAX_ERRORS = 10;

let folders: [folder: string, shown: string][] = [];

/** From now on these folders are left out of messages: the reader of an answer must not see them (D-139). */
export function hideFolders(ofCode: readonly string[], home: string, temporary: string | undefined): void {
  folders = [[home, '~'], ...ofCode.map((folder): [string, string] => [folder, '.'])];
  if (temporary) folders.push([temporary, '$TMPDIR']);
}

/** The text of whatever was thrown, rejected with or called back as an error, without a stack trace (D-139). */
export function messageOf(thrown: unknown): string {
  try {
    return withoutFolders(withoutTrace(plainMessageOf(thrown))) + adviceFor(thrown);
  } catch {
    return 'an error that cannot be shown as text';
  }
}

function plainMessageOf(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown;
  if (typeof thrown === 'object' && thrown !== null && 'message' in thrown) {
    const name = 'name' in thrown ? String(thrown.name) : 'Error';
    return String(thrown.message) || errorsIn(thrown).slice(0, MAX_ERRORS).map(plainMessageOf).join('; ') || name;
  }
  return stringify(thrown) ?? String(thrown);
}

/** Some errors have their trace, a list of who required whom, or a guess at another name of a module in their text. */
function withoutTrace(text: string): string {
  const [head = ''] = text.split(/\n(?:Require stack:|Did you mean to import )/, 1);
  return head.replace(/\n +at [^\n]+(?=\n|$)/g, '');
}

/** The longest folder first: another may be above it. */
function withoutFolders(text: string): string {
  return folders
    .flatMap(([folder, shortName]): [string, string][] => [
      [pathToFileURL(folder).href, shortName],
      [folder, shortName],
    ])
    .sort(([a], [b]) => b.length - a.length)
    .reduce((remainder, [folder, shortName]) => remainder.replaceAll(folder, shortName), text);
}

/** No package has such a name, but bundlers and tsconfig.json commonly use it for a folder. */
const ALIAS = /^[@~]$/;

/** The module that was not found, a package or an alias; undefined for a file of the lambda's own. */
function missingModule(thrown: unknown): string | undefined {
  const { code, message } = Object(thrown);
  if (!['MODULE_NOT_FOUND', 'ERR_MODULE_NOT_FOUND', 'ERR_INVALID_MODULE_SPECIFIER'].includes(code)) return undefined;
  const [, name] =
    /^(?:Cannot find (?:module|package)|Invalid module) ['"]((?:@[^/']+\/)?[^./'][^/']*)/.exec(String(message)) ?? [];
  return name;
}

function adviceFor(thrown: unknown): string {
  const name = missingModule(thrown);
  if (name === undefined) return '';
  if (ALIAS.test(name))
    return `; '${name}' is no package. Correct the import or, for TypeScript, the 'paths' in tsconfig.json`;
  return `; add it to the lambda's package, or run 'npm install ${name}' in the folder of a file: package_url or of the setting lambdas.modules`;
}

export function withArticle(noun: string): string {
  return `${/^[AEIOU]/i.test(noun) ? 'an' : 'a'} ${noun}`;
}

/** The stack of an error with those of its causes, in which libraries such as `fetch` say why a call failed. */
export function traceOf(thrown: unknown, depth = 0): string | undefined {
  try {
    if (typeof thrown === 'string' && withoutTrace(thrown) !== thrown) return thrown;
    if (typeof thrown !== 'object' || thrown === null || !('stack' in thrown)) return undefined;
    const causes = depth < MAX_CAUSE_DEPTH ? causesOf(thrown) : [];
    return causes
      .map((cause) => traceOf(cause, depth + 1) ?? messageOf(cause))
      .reduce(
        (trace, causeTrace) => (trace.includes(causeTrace) ? trace : `${trace}\nCaused by: ${causeTrace}`),
        String(thrown.stack),
      );
  } catch {
    // A getter that throws: there is no trace then.
    return undefined;
  }
}

function causesOf(error: object): unknown[] {
  const cause = 'cause' in error && error.cause ? [error.cause] : [];
  return [...cause, ...errorsIn(error).slice(0, MAX_ERRORS)];
}

/** The errors of an AggregateError. */
function errorsIn(error: object): unknown[] {
  return 'errors' in error && Array.isArray(error.errors) ? error.errors : [];
}
