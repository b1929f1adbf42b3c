// Fails on declared names that are one vague word and on doc comments that are not sentences: node scripts/check-names.mjs [--counts]
// scripts/vague-names.json lists the words with what to write instead, and the few names that are fixed by a format that users depend on.
// --counts prints the figures of each folder.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const scripts = dirname(fileURLToPath(import.meta.url));
const folder = process.argv.slice(2).find((argument) => !argument.startsWith('--'));
const root = resolve(folder ?? dirname(scripts));
const { words: adviceLists, fixedNames } = JSON.parse(readFileSync(join(scripts, 'vague-names.json'), 'utf8'));
const advice = new Map(
  Object.entries(adviceLists).flatMap(([text, list]) => list.split(' ').map((vagueWord) => [vagueWord, text])),
);

/** The first words of a comment that has no verb of its own. */
const FRAGMENT =
  /^(what|how|where|who|whose|whom|why|of|by|the same|as before|as in|as of|those|that of|so (many|much|long)|is (it|this|that|there)|has|have|may|does|do|which|whether)\b/i;

const isDeclaration = (node) =>
  ts.isVariableDeclaration(node) ||
  ts.isParameter(node) ||
  ts.isBindingElement(node) ||
  ts.isFunctionDeclaration(node) ||
  ts.isClassDeclaration(node) ||
  ts.isInterfaceDeclaration(node) ||
  ts.isTypeAliasDeclaration(node) ||
  ts.isMethodDeclaration(node) ||
  ts.isMethodSignature(node) ||
  ts.isPropertyDeclaration(node) ||
  ts.isPropertySignature(node) ||
  ts.isGetAccessorDeclaration(node) ||
  ts.isEnumMember(node);

const textOf = (comment) => (typeof comment === 'string' ? comment : (comment ?? []).map((part) => part.text).join(''));

/** Returns the complaints about a source file, and how many names and comments it declares. */
function readFile(file) {
  const text = readFileSync(join(root, file), 'utf8');
  const kind = file.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true, kind);
  const result = { names: 0, vagueNames: 0, comments: 0, fragments: 0, complaints: [] };
  const complain = (node, message) => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
    result.complaints.push(`${file}:${line + 1}: ${message}`);
  };
  const visit = (node) => {
    const { name } = node;
    if (isDeclaration(node) && name && (ts.isIdentifier(name) || ts.isPrivateIdentifier(name))) {
      result.names += 1;
      const lowerName = name.text.replace(/^#/, '').toLowerCase();
      if (advice.has(lowerName) && !fixedNames[file]?.includes(name.text)) {
        result.vagueNames += 1;
        complain(name, `the name "${name.text}" does not say what it is: ${advice.get(lowerName)}`);
      }
    }
    for (const comment of node.jsDoc ?? []) {
      result.comments += 1;
      const sentence = textOf(comment.comment).trim();
      if (!FRAGMENT.test(sentence)) continue;
      result.fragments += 1;
      complain(
        comment,
        `"${sentence.slice(0, 40)} ..." is not a sentence: begin with a verb or a noun with its article`,
      );
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return result;
}

const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.ts', '*.tsx', '*.mjs'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file && !/\.d\.m?ts$/.test(file) && !/^(docs|fixtures)\//.test(file))
  .filter((file) => existsSync(join(root, file)));
const results = files.map((file) => ({ part: partOf(file), ...readFile(file) }));

/** The first two folders of sources in server/ and renderer/, the first of others. */
function partOf(file) {
  const depth = /^(server|renderer)\//.test(file) ? 2 : 1;
  return file.split('/').slice(0, depth).join('/');
}

function figuresOf(list) {
  const sumOf = (key) => list.reduce((sum, result) => sum + result[key], 0);
  return `${sumOf('vagueNames')} of ${sumOf('names')} names, ${sumOf('fragments')} of ${sumOf('comments')} comments`;
}

if (process.argv.includes('--counts'))
  for (const part of [...new Set(results.map((result) => result.part))].sort())
    console.log(`${part.padEnd(24)} ${figuresOf(results.filter((result) => result.part === part))}`);
const complaints = results.flatMap((result) => result.complaints);
for (const complaint of complaints) console.error(`names: ${complaint}`);
if (complaints.length > 0) process.exitCode = 1;
console.log(`names: ${figuresOf(results)} to be changed`);
