import { transformWithOxc } from 'vite';
import { expect, it } from 'vitest';
import { testOf } from './test-text.ts';
import type { InvocationDetail } from './use-invocations.ts';

const recorded = (more: object): InvocationDetail =>
  // As: only the members that a test needs.
  ({ lambdaName: 'contact-form', event: {}, outcome: { ok: true, result: 'SUCCESS' }, ...more }) as InvocationDetail;

const request = (more: object) => ({
  method: 'POST',
  target: '/website/lead?a=`$HOME`',
  status: 200,
  request: {
    headers: [
      ['Content-Type', 'application/json'],
      ['Authorization', 'Basic <hidden>'],
      ['user-agent', 'node'],
      ['accept-language', '*'],
    ],
    body: { text: '{"payload":{"lastName":"O\'Hara"}}', sizeBytes: 33 },
  },
  ...more,
});

it('sends the recorded request and expects its status', async () => {
  const text = testOf(recorded({ request: request({}), outbound: [{ caughtBy: 'crm' }] }));
  await transformWithOxc(text, 'lead.test.js');
  expect(text).toContain(`it("POST /website/lead?a=\`$HOME\` succeeds", async () => {
  const response = await fetch(platform.gatewayUrl + "/website/lead?a=\`$HOME\`", {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      "Authorization": \`Bearer \${await platform.token()}\`,
    },
    body: "{\\"payload\\":{\\"lastName\\":\\"O'Hara\\"}}",
  });
  expect(response.status).toBe(200);
  await platform.leads.waitFor();
});
`);
});

it('expects success of a request that failed, and says what it was', async () => {
  const text = testOf(recorded({ request: request({ status: 500, request: { headers: [] } }) }));
  await transformWithOxc(text, 'lead.test.js');
  expect(text).toContain('  expect(response.status).toBe(200); // was 500\n');
  expect(text).not.toContain('headers');
});

it('invokes the lambda when it was not called through the gateway', async () => {
  const outcome = { ok: false, failure: 'failed', message: 'email is required\nmore' };
  const text = testOf(recorded({ event: { body: { text: '{"payload":{}}', sizeBytes: 14 } }, outcome }));
  await transformWithOxc(text, 'lead.test.js');
  expect(text).toContain(`  const { outcome } = await platform.invoke("contact-form", {"payload":{}});
  expect(outcome).toMatchObject({ ok: true }); // was: email is required
`);
});
