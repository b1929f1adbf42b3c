import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestLambdaService } from '../../testing/lambda-service.ts';

/* The log explains frequent mistakes of failed handlers in one line that says what to write instead. */

let service: TestLambdaService;
let folder: string;
const server = createServer((_request, response) => response.end('<html>Bad gateway</html>'));
let page: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'terrarium-mistakes-'));
  await mkdir(path.join(folder, 'modules', 'node_modules'), { recursive: true });
  await mkdir(path.join(folder, 'code'));
  await writeFile(path.join(folder, 'code', 'package.json'), '{}');
  await writeFile(path.join(folder, 'code', 'index.js'), "require('left-out'); exports.run = () => 1");
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // As: a listening TCP server has such an address.
  page = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  service = await TestLambdaService.start({ modules: path.join(folder, 'modules') });
});
afterAll(async () => {
  await service.stop();
  server.close();
  server.closeAllConnections();
  await rm(folder, { recursive: true, force: true });
});

/** The lines of the platform about an invocation, without what the handler threw. */
async function linesOf(code: string, properties = {}): Promise<string[]> {
  const { logs } = await service.run(code, { env: { CRM_OID: '1', PAGE: page }, ...properties }, '{"a":1}');
  return logs
    .map(({ text }) => text)
    .filter((text) => text.startsWith('[terrarium] '))
    .map((text) => text.slice('[terrarium] '.length))
    .filter((text) => !text.startsWith('error: '));
}

const AWS = (line: string) => `exports.run = async (event, context) => {\n  ${line}\n}`;
/** A handler's code, and what the log says of it after a failure. */
const readsFromStrings: [title: string, code: string, line: string][] = [
  [
    "a property of the event's JSON",
    "exports.run = async (event) => {\n  if (!event.email) throw new Error('email is required');\n}",
    'the handler reads event.email, but its first parameter, the event, is a JSON string; write: JSON.parse(event).email (D-135)',
  ],
  [
    'event.body of other platforms',
    'exports.run = async (event) => event.body.length',
    'the handler reads event.body, but its first parameter, the event, is a JSON string; write: JSON.parse(event) (D-135)',
  ],
  [
    'a property of the context',
    'exports.run = (event, context) => context.identity.user',
    'the handler reads context.identity, but its second parameter, the context, is a JSON string; write: JSON.parse(context).identity (D-135)',
  ],
  [
    'an unpacked event',
    'exports.run = async ({ payload }) => payload.email',
    'the handler unpacks { payload }, but its first parameter, the event, is a JSON string; write: (event) => { const { payload } = JSON.parse(event) (D-135)',
  ],
  [
    'a method of an object',
    'module.exports = { async run(event) { return event.order.id } }',
    'the handler reads event.order, but its first parameter, the event, is a JSON string; write: JSON.parse(event).order (D-135)',
  ],
  [
    'TypeScript',
    'export const run = async (event: { order: { id: string } }): Promise<string> => event.order.id;',
    'the handler reads event.order, but its first parameter, the event, is a JSON string; write: JSON.parse(event).order (D-135)',
  ],
  [
    'a response object',
    "exports.run = (req, res) => res.send('hello')",
    'a handler is called as (event, context, callback), and context is a JSON string: call callback, or return the result (D-135, D-138)',
  ],
];

describe('the log explains a failed handler that treats a JSON string as an object', () => {
  it.concurrent.each(readsFromStrings)('the log names %s', async (_title, code, line) => {
    expect(await linesOf(code)).toEqual([line]);
  });

  it('a handler that succeeds gets no explanation', async () => {
    expect(await linesOf('exports.run = (event) => event.email ?? 1')).toEqual([]);
  });
});

describe('the log explains a failed handler that parses HTML as JSON', () => {
  const PAGE_HINT = `the response is a web page, often an error page; write: if (!response.ok) throw new Error(\`\${response.status} \${await response.text()}\`)`;

  it('HTML that is parsed as JSON', async () => {
    const line = 'const answer = JSON.parse(await (await fetch(process.env.PAGE)).text());';
    expect(await linesOf(AWS(line))).toEqual([`HTML was parsed as JSON - ${PAGE_HINT}`]);
  });

  it('HTML that a library parses as JSON and reports in an error of its own', async () => {
    const line = "const own = new Error('no JSON, reason: Unexpected token < in JSON at position 0');";
    expect(await linesOf(AWS(`${line} throw own`))).toEqual([`HTML was parsed as JSON - ${PAGE_HINT}`]);
  });

  it('HTML that fetch parses as JSON', async () => {
    const line = 'const answer = await (await fetch(process.env.PAGE)).json();';
    expect(await linesOf(AWS(line))).toEqual([`HTML was parsed as JSON - ${PAGE_HINT}`]);
  });
});

describe('code that cannot be loaded says in one line what to write', () => {
  it.each([
    [
      'a function main of OpenWhisk',
      'function main(params) { return { a: 1 } }',
      {},
      'load: index.js, line 1 declares main and does not export it, in: function main(params) { return { a: 1 } }; write: exports.run = main',
    ],
    [
      'module.export',
      'module.export = { run: () => 1 }',
      {},
      'load: index.js, line 1 exports nothing, in: module.export = { run: () => 1 }; write: module.exports = ...',
    ],
    [
      'exports that are assigned',
      'exports = { run: () => 1 }',
      {},
      'load: index.js, line 1 exports nothing, in: exports = { run: () => 1 }; write: module.exports = ...',
    ],
    [
      'a syntax error beyond ASCII',
      'exports.run = () => {\n  return \u201chello\u201d;\n}',
      {},
      'load: syntax error in index.js, line 2, column 10: Invalid or unexpected token in: return \u201chello\u201d;',
    ],
    [
      'exports of both kinds of modules',
      "import { sep } from 'path';\n\nmodule.exports.run = () => sep;",
      {},
      'load: index.js failed to load: module is not defined in ES module scope; index.js, line 3 is not for a file with import or export, in: module.exports.run = () => sep;; write: export const run = ...',
    ],
    ['an object in place of the handler', 'exports.run = {}', {}, "load: handler 'run' is an object, not a function"],
    [
      'a handler name with a folder',
      'exports.handler = () => 1',
      { handler: 'src/index.handler' },
      "load: handler 'src/index.handler' names a file, but inline code is one file; write in the lambda's property 'handler': handler",
    ],
    [
      'a syntax error',
      'exports.run = () => {\n  const a = ;\n}',
      {},
      "load: syntax error in index.js, line 2, column 13: Unexpected token ';' in: const a = ;",
    ],
  ])('%s', async (_what, code, properties, expected) => {
    expect(await linesOf(code, properties)).toEqual([expected]);
  });

  it.each([
    [
      'CommonJS code in a package of ES modules',
      { 'package.json': '{"type": "module"}', 'index.js': 'exports.run = () => 1' },
      /^load: index.js failed to load: exports is not defined in ES module scope; index.js, line 1 is not for a package with "type": "module", in: exports.run = \(\) => 1; write: export const run = ..., or rename the file to index.cjs$/,
    ],
    [
      'a package.json that is not JSON',
      { 'package.json': '{"main":', 'index.ts': 'export const run = (): number => 1' },
      /^load: index.ts failed to load: (Error parsing|Invalid package config) \.\/package\.json/,
    ],
    [
      'a settings file that is not JSON',
      {
        'settings.json': '{"a"',
        'index.ts': "const a: object = JSON.parse(require('fs').readFileSync(__dirname + '/settings.json', 'utf8'));",
      },
      /^load: index.ts failed to load: Expected ':' after property name in JSON at position 4/,
    ],
    [
      'text that is not JSON',
      { 'package.json': '{}', 'index.js': "const settings = JSON.parse('[1'); exports.run = () => settings" },
      /^load: index.js failed to load: Expected ',' or '\]' after array element in JSON at position 2/,
    ],
  ])('%s', async (_what, files, expected) => {
    const packageFolder = await mkdtemp(path.join(folder, 'package-'));
    for (const [name, text] of Object.entries(files)) await writeFile(path.join(packageFolder, name), text);
    const properties = { code_type: 'package', package_url: pathToFileURL(packageFolder).href, handler: 'run' };
    expect(await linesOf('', properties)).toEqual([expect.stringMatching(expected)]);
  });

  it('a file of a package in another folder', async () => {
    const properties = { code_type: 'package', package_url: pathToFileURL(path.join(folder, 'code')).href };
    const [line] = await linesOf('', { ...properties, handler: 'src/index.run' });
    expect(line).toContain("has no file 'src/index'; write in the lambda's property 'handler': index.run");
  });
});

describe('a failed handler without such a mistake is not accused of it', () => {
  it.each([
    ['methods of strings', "exports.run = (event) => { event.trim(); throw new Error('no') }"],
    [
      'an event that is parsed first',
      'exports.run = (event) => { event = JSON.parse(event); throw new Error(event.a) }',
    ],
    [
      'an event that may be an object',
      "exports.run = (event) => { typeof event === 'string' || event.a; throw new Error('no') }",
    ],
    [
      'an inner parameter of the same name',
      "exports.run = (event) => { [{ a: 1 }].map((event) => event.a); throw new Error('no') }",
    ],
    [
      'a variable of the same name',
      'exports.run = (raw) => { const event = JSON.parse(raw); throw new Error(event.a) }',
    ],
  ])('the log says nothing about %s', async (_title, code) => {
    expect(await linesOf(code)).toEqual([]);
  });
});
