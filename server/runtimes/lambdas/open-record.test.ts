import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Invocation } from '../../model/invocation.ts';
import { resultOf, TestLambdaService } from '../../testing/lambda-service.ts';

/* A web form answers its visitor and leaves the lead to the CRM: what that says is to be read in the record (D-138). */

const records = new Map<string, Invocation>();
const heldResponses: (() => void)[] = [];
const crm = createServer((request, response) => {
  request.resume();
  heldResponses.push(() => response.writeHead(400).end('no such field'));
});
const FORM = `exports.run = (event, context, callback) => {
  require('https').request('https://crm.example/lead', { method: 'POST' }, (r) => r.resume()).on('error', () => {}).end('a=1');
  callback(null, 'SUCCESS');
}`;

/** Its records stay open longer than any test lasts. */
let service: TestLambdaService;
let hasty: TestLambdaService;
beforeAll(async () => {
  await new Promise<void>((resolve) => crm.listen(0, '127.0.0.1', resolve));
  // As: a listening TCP server has such an address.
  const { port } = crm.address() as AddressInfo;
  const startWith = (openOutboundMs: number) =>
    TestLambdaService.start({
      limits: { openOutboundMs },
      outbound: { crm: 'catch', crmAddress: () => ({ host: '127.0.0.1', port }) },
      onInvocation: (invocation) => records.set(invocation.executionId, invocation),
    });
  [service, hasty] = await Promise.all([startWith(10 * 60_000), startWith(10)]);
});
afterAll(async () => {
  await Promise.all([service.stop(), hasty.stop()]);
  crm.close();
  crm.closeAllConnections();
});

const env = { CRM_API_BASEPATH: 'crm.example' };
const recordOf = ({ executionId }: Invocation) =>
  vi.waitFor(() => records.get(executionId) ?? Promise.reject(new Error('not yet')), { timeout: 60_000 });

it.each([[false], [true]])(
  'an outbound call under way when the handler answers is in the record (isolate: %s)',
  async (isolate) => {
    const id = service.lambda(FORM, { env, isolate });
    const first = await service.invoke(id);
    expect(resultOf(first)).toBe('SUCCESS');
    expect(records.has(first.executionId)).toBe(false);
    // Others are served meanwhile, also by the same process; each has its own calls.
    const second = await service.invoke(id);
    await expect.poll(() => heldResponses).toHaveLength(2);
    for (const answer of heldResponses.splice(0)) answer();
    for (const answered of [first, second]) {
      const { outbound, outcome, finishedAtMs } = await recordOf(answered);
      expect(outbound).toMatchObject([{ method: 'POST', status: 400, caughtBy: 'crm' }]);
      expect([outcome, finishedAtMs]).toEqual([answered.outcome, answered.finishedAtMs]);
    }
  },
);

it('a record whose call gets no response is closed after a while, and at once when the emulator stops', async () => {
  const slow = await recordOf(await hasty.run(FORM, { env }));
  expect(slow.outbound).toMatchObject([{ error: 'no response before the invocation ended' }]);
  const last = await service.run(FORM, { env });
  await service.lambdas.stop();
  expect(records.get(last.executionId)?.outbound).toHaveLength(1);
});
