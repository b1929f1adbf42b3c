import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WEB_FORM } from '../model/web-form.ts';
import { buildCommand, CliRunner, type RunningCommand } from '../testing/command.ts';

let cli: CliRunner;
let platform: RunningCommand;
beforeAll(async () => {
  await buildCommand();
  cli = new CliRunner();
  platform = cli.start(['start', '--log-requests', '--base-port', '0', '--gateway-port', '0']);
  await platform.waitForOutput('Ctrl+C');
});
afterAll(() => cli?.close());

const post = (path: string, body: object) => {
  const { gatewayUrl } = JSON.parse(readFileSync(join(cli.folder, '.terrarium', 'instance.json'), 'utf8'));
  return fetch(`${gatewayUrl}${path}`, { method: 'POST', body: JSON.stringify(body) });
};

it('start --log-requests prints each request, and below it the log and the outbound calls of its lambda', async () => {
  await post('/website/lead', WEB_FORM);
  const out = await platform.waitForOutput('caught by the mock CRM\n');
  expect(out).toMatch(
    /^\d\d:\d\d:\d\d contact-form {2}POST \/website\/lead +200 +\d+ ms {2}SUCCESS\n +log {2}CRM answered 200\n +out {2}POST https:\/\/crm\.example\.com\/.*: 200 in \S+ ms, caught by the mock CRM\n/m,
  );
});

it('start --log-requests prints requests without a lambda, and invocations without a request', async () => {
  await post('/website/nowhere', {});
  expect(await platform.waitForOutput('/website/nowhere')).toMatch(
    /^\S+ - +POST \/website\/nowhere +404 +\d+ ms {2}no API found with those values$/m,
  );
  await cli.json('invoke', 'contact-form', '--event', JSON.stringify(WEB_FORM));
  expect(await platform.waitForOutput('contact-form  (manual)')).toMatch(/^\S+ contact-form {2}\(manual\)/m);
});

it('start --log-requests prints the error and the event of a failed invocation', async () => {
  const properties = {
    ...{ provider: { id: '/default-lambda' }, runtime: 'nodejs', code_type: 'code', handler: 'run' },
    code: "exports.run = () => { console.error('about to fail'); throw new Error('email is required'); };",
  };
  const seed = { format: 1, orgs: { demo: { lambdas: { failing: { properties } } } } };
  const applied = await cli.runInProcess(['apply', '-f', '-'], { input: JSON.stringify(seed) });
  expect(applied.err).toBe('');
  await cli.runInProcess(['invoke', 'failing', '--event', '{"payload":{}}']);
  const out = await platform.waitForOutput('event  {"payload":{}}\n');
  expect(out).toMatch(
    /^\S+ failing +\(manual\) +error +\d+ ms {2}email is required\n( +err {2}.*\n)* +err {2}about to fail\n/m,
  );
});

it('start --log-requests prints the result of an invocation whose client hung up', async () => {
  const hangUp = new AbortController();
  const server = createServer((_request, response) => {
    hangUp.abort();
    void platform.waitForOutput('no response').then(() => response.end());
  }).listen(0, '127.0.0.1');
  try {
    const { port } = await new Promise<AddressInfo>((resolve) =>
      server.once('listening', () => resolve(server.address() as AddressInfo)),
    );
    const lambda = {
      ...{ provider: { id: '/default-lambda' }, runtime: 'nodejs', code_type: 'code', handler: 'run' },
      code: `exports.run = async () => { await fetch('http://127.0.0.1:${port}/'); throw new Error('too late'); };`,
    };
    const endpoint = { resource: '/', methods: ['GET'], implementation_type: 'lambda', implementation_id: 'waiting' };
    const api = {
      properties: { provider: { id: '/default-gateway-manager' } },
      apiendpoints: { root: { properties: endpoint } },
    };
    const development = { lambdas: { waiting: { properties: lambda } }, apis: { patience: api } };
    const seed = { format: 1, orgs: { demo: { workspaces: { website: { environments: { development } } } } } };
    const applied = await cli.runInProcess(['apply', '-f', '-'], { input: JSON.stringify(seed) });
    expect(applied.err).toBe('');
    const { gatewayUrl } = JSON.parse(readFileSync(join(cli.folder, '.terrarium', 'instance.json'), 'utf8'));
    await expect(fetch(`${gatewayUrl}/patience`, { signal: hangUp.signal })).rejects.toThrow('aborted');
    expect(await platform.waitForOutput('too late')).toMatch(
      /^\S+ - +GET \/patience +no response +\d+ ms\n(.*\n)*\S+ waiting +GET \/patience +error +\d+ ms {2}too late$/m,
    );
  } finally {
    server.close();
  }
});
