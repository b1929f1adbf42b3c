import { pathToFileURL } from 'node:url';

const { stringify } = JSON;

/** Folders of this machine and what stands for them in a message. */
let folders: [folder: string, shown: string][] = [];

/** From now on these folders are left out of messages, longest first: whoever reads an answer has no business with them (D-139). */
export function hideFolders(ofCode: readonly string[], home: string): void {
  const shown: [string, string][] = [[home, '~'], ...ofCode.map((folder): [string, string] => [folder, '.'])];
  folders = shown
    .flatMap(([folder, name]): [string, string][] => [
      [pathToFileURL(folder).href, name],
      [folder, name],
    ])
    .sort(([a], [b]) => b.length - a.length);
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
    return String(thrown.message) || name;
  }
  return stringify(thrown) ?? String(thrown);
}

/** Some give their trace, or a list of who required whom, as the text of an error. */
function withoutTrace(text: string): string {
  const [head = ''] = text.split('\nRequire stack:', 1);
  return head.replace(/\n +at [^\n]+(?=\n|$)/g, '');
}

function withoutFolders(text: string): string {
  return folders.reduce((left, [folder, shown]) => left.replaceAll(folder, shown), text);
}

/** What to do about a module that is not there; nothing for a file of the lambda's own. */
function adviceFor(thrown: unknown): string {
  if (typeof thrown !== 'object' || thrown === null || !('code' in thrown) || !('message' in thrown)) return '';
  if (thrown.code !== 'MODULE_NOT_FOUND' && thrown.code !== 'ERR_MODULE_NOT_FOUND') return '';
  const [, name] = /^Cannot find (?:module|package) '((?:@[^/']+\/)?[^./'][^/']*)/.exec(String(thrown.message)) ?? [];
  if (name === undefined) return '';
  return `; put it into the lambda's package, or run 'npm install ${name}' in the folder that a file: package_url names or in the one that the setting lambdas.modules does`;
}

/** What goes to the log for it: the stack trace of an error object, or of the text of one. */
export function traceOf(thrown: unknown): string | undefined {
  try {
    if (typeof thrown === 'string' && withoutTrace(thrown) !== thrown) return thrown;
    if (typeof thrown === 'object' && thrown !== null && 'stack' in thrown) return String(thrown.stack);
  } catch {
    // A getter that throws: there is no trace then.
  }
  return undefined;
}
