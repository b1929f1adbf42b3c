import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  decideOutbound,
  OUTBOUND_ACTIONS,
  type OutboundAction,
  type OutboundRule,
  type OutboundVerdict,
} from '../../model/outbound-rule.ts';
import { resultOf, TestLambdaService } from '../../testing/lambda-service.ts';

const mock = createServer((_request, response) => response.end('mock'));
const host = createServer((_request, response) => response.end('host'));
let hostPort: number;
let service: TestLambdaService;

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // As: a listening TCP server has such an address.
  return (server.address() as AddressInfo).port;
}

beforeAll(async () => {
  const crmAddress = { host: '127.0.0.1', port: await portOf(mock) };
  hostPort = await portOf(host);
  service = await TestLambdaService.start({ outbound: { crm: 'catch', crmAddress: () => crmAddress } });
});
afterAll(async () => {
  await service.stop();
  for (const server of [mock, host]) {
    server.close();
    server.closeAllConnections();
  }
});

const FIELDS: Record<OutboundAction, Omit<OutboundRule, 'id' | 'enabled' | 'host' | 'action'>> = {
  catch: {},
  pass: {},
  block: {},
  delay: { delayMs: 20 },
  fail: { status: 500 },
  answer: { status: 201, body: 'own' },
};
const SINGLE_RULES = [
  ...OUTBOUND_ACTIONS.map((action) => ({ action, ...FIELDS[action] })),
  { action: 'fail' as const, error: 'ECONNREFUSED' as const },
  { action: 'fail' as const, error: 'ENOTFOUND' as const },
];
const PAIRS = SINGLE_RULES.flatMap((first) => SINGLE_RULES.map((second) => [first, second] as const));

/** Returns the start of a call's result if the verdict that the window previews applies. */
function expectedResult({ action, status, error }: Pick<OutboundVerdict, 'action' | 'status' | 'error'>): string {
  if (action === 'catch') return '200 mock';
  if (action === 'pass') return '200 host';
  if (action === 'answer') return '201 own';
  return action === 'block' ? 'ECONNREFUSED: ' : (error ?? `${status} `);
}

/** Lambdas whose result is the status and body of a response, or the code and message of an error. */
const byFetch = (path: string) => `exports.run = (event) =>
  fetch('http://' + process.env.CRM_API_BASEPATH + '${path}', { method: 'POST', body: event })
    .then(async (r) => r.status + ' ' + await r.text(), (e) => e.cause.code + ': ' + e.cause.message)`;
const byRequest = (protocol: string) => `const { request } = require('${protocol}');
  exports.run = (event, context, callback) => {
    const sent = request('${protocol}://' + process.env.CRM_API_BASEPATH + '${FORM_PATH}', { method: 'POST' }, (res) => {
      let text = ''; res.on('data', (d) => { text += d }); res.on('end', () => callback(null, res.statusCode + ' ' + text));
    });
    sent.on('error', (e) => callback(null, e.code + ': ' + e.message));
    sent.end(event);
  }`;
const FORM_PATH = '/servlet/servlet.WebToLead';

describe.each([
  ['a call by fetch', byFetch('/x')],
  ['a form by fetch', byFetch(FORM_PATH)],
  ['a form by http.request', byRequest('http')],
  ['a form by https.request', byRequest('https')],
])('two rules for %s', (way, code) => {
  it('have the effect that the window previews, in each combination', async () => {
    const resolved = `require('dns').lookup = (dns => (name, ...rest) => dns('127.0.0.1', ...rest))(require('dns').lookup);
      ${code}`;
    const lambda = service.lambda(resolved, { env: { CRM_API_BASEPATH: `crm.example:${hostPort}` } });
    const seen: unknown[] = [];
    const expected: unknown[] = [];
    for (const pair of PAIRS) {
      const target = { hostname: 'crm.example', port: hostPort, isCrm: true };
      const rules = pair.map((fields, index) => ({ id: String(index), enabled: true, host: '*', ...fields }));
      await service.setOutboundRules(...rules);
      const verdict = decideOutbound(rules, target, true);
      if (!verdict) throw new Error('no rule applies');
      const invocation = await service.invoke(lambda, 'oid=1&last_name=a');
      const [call] = invocation.outbound;
      // The host does not speak TLS.
      if (verdict.action === 'pass' && way.includes('https')) continue;
      const start = expectedResult(verdict);
      const result = resultOf(invocation);
      const pairText = pair.map(({ action, ...fields }) => `${action} ${JSON.stringify(fields)}`).join(', then ');
      expected.push([pairText, start, true, verdict.rules.map(({ text }) => text)]);
      // A timer can fire a millisecond early.
      const isDelayed = invocation.finishedAtMs - invocation.acceptedAtMs >= verdict.delayMs - 1;
      seen.push([pairText, result.slice(0, start.length), isDelayed, call?.rules?.map(({ text }) => text)]);
    }
    expect(seen).toEqual(expected);
  });
});
