import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestLambdaService } from '../../testing/lambda-service.ts';

/* What the log says of mistakes that lambdas written for other platforms have: one line with the place and what to write instead. */

let bed: TestLambdaService;
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
  bed = await TestLambdaService.start({ modules: path.join(folder, 'modules') });
});
afterAll(async () => {
  await bed.stop();
  server.close();
  server.closeAllConnections();
  await rm(folder, { recursive: true, force: true });
});

/** The lines of the platform about an invocation, without what the handler threw. */
async function linesOf(code: string, properties = {}): Promise<string[]> {
  const { logs } = await bed.run(code, { env: { CRM_OID: '1', PAGE: page }, ...properties }, '{"a":1}');
  return logs
    .map(({ text }) => text)
    .filter((text) => text.startsWith('[terrarium] '))
    .map((text) => text.slice('[terrarium] '.length))
    .filter((text) => !text.startsWith('error: '));
}

const AWS = (line: string) => `exports.run = async (event, context) => {\n  ${line}\n}`;
const EXPRESS = (line: string) => `exports.run = (req, res) => {\n  ${line}\n}`;
const at = (line: number, name: string, source: string, rest: string) =>
  `index.js, line ${line} has ${name} in: ${source} - ${rest}`;
const HTTP = 'return { statusCode: 200, headers: {}, body } with is_http_aware on the endpoint';
const BODY = 'event is the request body, as a string; write: JSON.parse(event)';
const WHOLE = 'event is a JSON string; write: JSON.parse(event)';
const QUERY = 'the query is in context, each parameter with all its values; write: JSON.parse(context).params';

/** What it is about, the source, the property or name, and the rest of the line. */
const inSource: [string, (line: string) => string, string, string, string][] = [
  ['event.body of AWS', AWS, 'const { a } = JSON.parse(event.body);', 'event.body', BODY],
  ['event.body that is only tested', AWS, 'return event.body ? 1 : 2;', 'event.body', BODY],
  [
    'event.headers',
    AWS,
    "return event.headers['x'];",
    'event.headers',
    'the headers are in context; write: JSON.parse(context).headers',
  ],
  ['event.queryStringParameters', AWS, 'return event.queryStringParameters.a;', 'event.queryStringParameters', QUERY],
  [
    'event.httpMethod',
    AWS,
    "return event.httpMethod === 'GET';",
    'event.httpMethod',
    'the method is in context; write: JSON.parse(context).method',
  ],
  [
    'a property of the JSON itself',
    AWS,
    'return event.name;',
    'event.name',
    'event is a JSON string; write: JSON.parse(event).name',
  ],
  ['an unpacked event', AWS, 'const { body } = event; return body;', 'event.body', BODY],
  ['req.body of Express', EXPRESS, 'return req.body;', 'req.body', BODY],
  ['req.query of Express', EXPRESS, 'return req.query.a;', 'req.query', QUERY],
  [
    'res.send',
    EXPRESS,
    "res.send('hello');",
    'res.send',
    'there is no response object; write: return value, or callback(null, value)',
  ],
  [
    'res.json',
    EXPRESS,
    'res.json({});',
    'res.json',
    'there is no response object; write: return value, or callback(null, value)',
  ],
  [
    'res.setHeader',
    EXPRESS,
    "res.setHeader('a', 'b');",
    'res.setHeader',
    `there is no response object; write: ${HTTP}`,
  ],
  ['res.status', EXPRESS, 'res.status(201);', 'res.status', `there is no response object; write: ${HTTP}`],
  [
    'context.succeed',
    AWS,
    'context.succeed(1);',
    'context.succeed',
    'context is a JSON string and has no such function; write: callback(null, value), or return value',
  ],
  [
    'context.fail',
    AWS,
    "context.fail('a');",
    'context.fail',
    'context is a JSON string and has no such function; write: callback(error), or throw error',
  ],
  [
    'context.done',
    AWS,
    'context.done(null, 1);',
    'context.done',
    'context is a JSON string and has no such function; write: callback(null, value), or return value',
  ],
  [
    'context.awsRequestId',
    AWS,
    'return context.awsRequestId;',
    'context.awsRequestId',
    'context is a JSON string; write: JSON.parse(context).executionId',
  ],
  [
    'context.log of Azure',
    AWS,
    "context.log('a');",
    'context.log',
    'context is a JSON string and has no such function; write: console.log(text)',
  ],
  [
    'context.res of Azure',
    AWS,
    'context.res = { body: 1 };',
    'context.res',
    `context is a JSON string; write: ${HTTP}`,
  ],
  [
    'Twilio',
    AWS,
    'return new Twilio.twiml.VoiceResponse();',
    'Twilio.twiml',
    "Twilio's objects are not provided; write: return the text of the response, such as TwiML",
  ],
  [
    'Java of Nashorn',
    AWS,
    "return Java.type('java.util.ArrayList');",
    'Java.type',
    "lambdas run on Node.js, which has no Java; write: a module of npm: const name = require('name')",
  ],
  [
    'an unset variable',
    AWS,
    'return process.env.CRM_OIDD.length;',
    'process.env.CRM_OIDD',
    'that variable is not set, but CRM_OID is; write: process.env.CRM_OID',
  ],
  [
    'an unset variable like no other',
    AWS,
    'return process.env.ZEBRA.length;',
    'process.env.ZEBRA',
    "that variable is not set; write: a value for ZEBRA into the lambda's property 'env'",
  ],
  [
    'a variable that is unpacked and not set',
    AWS,
    "const { CRM_OIDD, NONE = '' } = process.env;",
    'process.env.CRM_OIDD',
    'that variable is not set, but CRM_OID is; write: process.env.CRM_OID',
  ],
  ['the body of a Request', AWS, 'return await event.json();', 'event.json', BODY],
  [
    'req.get of Express',
    EXPRESS,
    "return req.get('host');",
    'req.get',
    'the headers are in context; write: JSON.parse(context).headers',
  ],
  ['event.__ow_body of OpenWhisk', AWS, 'return event.__ow_body;', 'event.__ow_body', BODY],
  [
    'event.http of DigitalOcean',
    AWS,
    'return event.http.headers;',
    'event.http',
    'the request is described in context; write: JSON.parse(context)',
  ],
  [
    'java.lang of Rhino',
    AWS,
    "return java.lang.System.getenv('A');",
    'java.lang',
    "lambdas run on Node.js, which has no Java; write: a module of npm: const name = require('name')",
  ],
  ['print of Nashorn', AWS, "print('a');", 'print', 'that is not in Node.js; write: console.log(text)'],
  [
    'Deno',
    AWS,
    "return Deno.env.get('A');",
    'Deno.env',
    'lambdas run on Node.js; write: a module of Node.js, such as process.env',
  ],
  ['a copy of the event', AWS, 'return { ...event };', '...event', WHOLE],
  ['the names in the event', AWS, 'return Object.keys(event);', 'Object.keys(event)', WHOLE],
  ['a name in the event', AWS, "return 'a' in event;", "'a' in event", WHOLE],
  ['a loop over the event', AWS, 'for (const name in event) return name;', 'const name in event', WHOLE],
];

describe('a mistake in the source is one line of the log', () => {
  it.concurrent.each(inSource)('%s', async (_what, made, line, name, rest) => {
    expect(await linesOf(made(line))).toEqual([at(2, name, line, rest)]);
  });

  it('in a function that the handler gives its event to', async () => {
    const code =
      'const bodyOf = (got) => got.body;\nfunction read(a, got) {\n  return bodyOf(got);\n}\nexports.run = (event) => read(1, event)';
    expect(await linesOf(code)).toEqual([at(1, 'got.body', 'const bodyOf = (got) => got.body;', BODY)]);
  });

  it.each([
    ['an object', 'module.exports = {\n  async run(event) { return event.body }\n}'],
    ['an instance of a class', 'module.exports = new (class {\n  async run(event) { return event.body }\n})()'],
  ])('in a method of %s', async (_what, code) => {
    expect(await linesOf(code)).toEqual([at(2, 'event.body', 'async run(event) { return event.body }', BODY)]);
  });

  it('in TypeScript', async () => {
    const code = 'export const run = async (event: { body: string }): Promise<string> => {\n  return event.body;\n};';
    expect(await linesOf(code)).toEqual([at(2, 'event.body', 'return event.body;', BODY)]);
  });

  it('(context, req) of Azure', async () => {
    const line = 'exports.run = async (context, req) => 1';
    expect(await linesOf(line)).toEqual([
      at(
        1,
        '(context, req)',
        line,
        'a handler is called as (event, context, callback); write: (event, context, callback)',
      ),
    ]);
  });

  const PAGE_HINT = `the response is a web page, often an error page; write: if (!response.ok) throw new Error(\`\${response.status} \${await response.text()}\`)`;

  it('HTML that is parsed as JSON', async () => {
    const line = 'const answer = JSON.parse(await (await fetch(process.env.PAGE)).text());';
    expect(await linesOf(AWS(line))).toEqual([`index.js, line 2 parses HTML as JSON in: ${line} - ${PAGE_HINT}`]);
  });

  it('HTML that a library parses as JSON and reports in an error of its own', async () => {
    const line = "const own = new Error('no JSON, reason: Unexpected token < in JSON at position 0');";
    expect(await linesOf(AWS(`${line} throw own`))).toEqual([
      `index.js, line 2 parses HTML as JSON in: ${line} throw own - ${PAGE_HINT}`,
    ]);
  });

  it('HTML that is parsed as JSON where no line of the lambda is left in the stack', async () => {
    const code = "exports.run = (event) => Promise.resolve('<html>').then(JSON.parse)";
    expect(await linesOf(code)).toEqual([`HTML was parsed as JSON - ${PAGE_HINT}`]);
  });

  it('HTML that fetch parses as JSON, with the line where the stack has it (not in Node.js 26)', async () => {
    const line = 'const answer = await (await fetch(process.env.PAGE)).json();';
    const [only = '', ...others] = await linesOf(AWS(line));
    expect(others).toEqual([]);
    expect([`index.js, line 2 parses HTML as JSON in: ${line}`, 'HTML was parsed as JSON']).toContain(
      only.replace(` - ${PAGE_HINT}`, ''),
    );
  });
});

describe('code that cannot be loaded says in one line what to write', () => {
  it.each([
    [
      'awslambda.streamifyResponse',
      'exports.run = awslambda.streamifyResponse(async () => {});',
      {},
      'load: index.js failed to load: awslambda is not defined; index.js, line 1 has awslambda.streamifyResponse in: exports.run = awslambda.streamifyResponse(async () => {}); - results are not streamed; write: exports.run = async (event, context) => result',
    ],
    [
      'a function main of OpenWhisk',
      'function main(params) { return { a: 1 } }',
      {},
      'load: index.js, line 1 declares main and does not export it, in: function main(params) { return { a: 1 } }; write: exports.run = main',
    ],
    [
      "addEventListener('fetch') of Cloudflare",
      "addEventListener('fetch', (event) => event.respondWith(new Response('x')))",
      {},
      "load: index.js failed to load: addEventListener is not defined; index.js, line 1 has addEventListener in: addEventListener('fetch', (event) => event.respondWith(new Response('x'))) - functions are not registered: the platform calls an exported function; write: exports.run = async (event, context) => result",
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

  it('functions.http of Google', async () => {
    const lines = await linesOf(
      "const functions = require('@google-cloud/functions-framework');\nfunctions.http('run', (req, res) => res.send('x'));",
    );
    expect(lines.at(-1)).toContain(
      "index.js, line 2 has functions.http in: functions.http('run', (req, res) => res.send('x')); - functions are not registered: the platform calls an exported function; write: exports.run = async (event, context) => result",
    );
  });

  it('app.http of Azure', async () => {
    const code =
      "const { app } = require('@azure/functions');\napp.http('a', { handler: async () => ({ body: 'x' }) });";
    const lines = await linesOf(code);
    expect(lines.at(-1)).toContain(
      "index.js, line 2 has app.http in: app.http('a', { handler: async () => ({ body: 'x' }) }); - functions are not registered: the platform calls an exported function; write: exports.run = async (event, context) => result",
    );
  });

  it('a file of a package in another folder', async () => {
    const properties = { code_type: 'package', package_url: pathToFileURL(path.join(folder, 'code')).href };
    const [line] = await linesOf('', { ...properties, handler: 'src/index.run' });
    expect(line).toContain("has no file 'src/index'; write in the lambda's property 'handler': index.run");
  });

  it.each([
    ['inline code', {}, () => path.join(folder, 'modules')],
    ['a package', { code_type: 'package', handler: 'index.run' }, () => path.join(folder, 'code')],
  ])('a missing module of %s, with the command that installs it', async (_what, properties, where) => {
    const package_url = pathToFileURL(path.join(folder, 'code')).href;
    const given = 'code_type' in properties ? { ...properties, package_url } : properties;
    const id = bed.lambda("require('left-out'); exports.run = () => 1", { ...given });
    await bed.invoke(id);
    // What a process printed while it could not be loaded belongs to no call, and may arrive after the answer.
    const logged = () => bed.service.readLog(id, {}).lines.map(({ text }) => text);
    await expect
      .poll(logged, { timeout: 60_000 })
      .toContain(`[terrarium] install it with: npm install --prefix ${where()} left-out`);
  });
});

describe('code without such a mistake has no such line', () => {
  it.each([
    ['text methods', 'exports.run = (event, context) => event.length + event.trim() + context.slice(1)'],
    ['an event that is parsed first', 'exports.run = (event) => { event = JSON.parse(event); return event.body ?? 1 }'],
    ['an event that may be an object', "exports.run = (event) => typeof event === 'string' ? 1 : event.body"],
    ['an inner name of the same kind', 'exports.run = (event) => [{ body: 1 }].map((event) => event.body)'],
    ['names of its own', 'const Java = { type: () => 1 }; exports.run = () => Java.type()'],
    ['a variable that is replaced', "exports.run = () => process.env.NOT_THERE || 'a'"],
    [
      'a variable that is asked for',
      'exports.run = () => { if (process.env.DEBUG) console.log(1); return !process.env.OFF }',
    ],
    [
      'an event that is given to others',
      'const use = (a, b) => b; exports.run = (event) => use(event, JSON.parse(event)).body',
    ],
    [
      'a variable that is unpacked with a default',
      "exports.run = () => { const { NOT_THERE = 'a' } = process.env; return NOT_THERE }",
    ],
    ['a copy of something else', 'exports.run = (event) => ({ ...JSON.parse(event) })'],
    ['a name that is asked for', "exports.run = () => (typeof Deno === 'undefined' ? 1 : Deno.version)"],
    ['print of its own', 'const print = console.log; exports.run = () => print(1)'],
    ['an inner function of another name', 'const app = (req) => req.body; exports.run = () => app({ body: 1 })'],
  ])('%s', async (_what, code) => {
    expect(await linesOf(code)).toEqual([]);
  });

  it('and nothing is added to what the lambda sees', async () => {
    const code = `exports.run = (event) => { event.body; return [Object.hasOwn(String.prototype, 'body'), typeof Twilio, typeof awslambda] }`;
    const { outcome } = await bed.run(code);
    expect(outcome.ok && 'bytes' in outcome.value && Buffer.from(outcome.value.bytes).toString()).toBe(
      '[false,"undefined","undefined"]',
    );
  });
});
