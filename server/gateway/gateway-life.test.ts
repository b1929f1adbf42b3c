import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { Outcome } from '../model/invocation.ts';
import { TestGateway, text } from '../testing/gateway.ts';

const started: TestGateway[] = [];
async function start(options: ConstructorParameters<typeof TestGateway>[0] = {}): Promise<TestGateway> {
  const gateway = await new TestGateway(options).start();
  started.push(gateway);
  return gateway;
}
afterEach(async () => {
  await Promise.all(started.splice(0).map((gateway) => gateway.stop()));
});

/** A lambda at /web/slow that reports its start, and ends when the test says so. */
function slowLambda(gateway: TestGateway) {
  let finish: (outcome: Outcome) => void = () => {};
  let begin: () => void = () => {};
  const whenBegun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const outcome = new Promise<Outcome>((resolve) => {
    finish = resolve;
  });
  const lambda = gateway.lambda(() => {
    begin();
    return outcome;
  });
  gateway.endpoint(gateway.api('web'), lambda, { resource: '/slow' });
  return { lambda, begun: whenBegun, finish };
}

describe('a gateway that starts', () => {
  it('selects a free port by default, and returns it', async () => {
    const [first, two] = [await start(), await start()];
    expect(first.port).toBeGreaterThan(0);
    expect(two.port).not.toBe(first.port);
  });

  it('says so when the port is in use', async () => {
    const { port } = await start();
    const second = new TestGateway();
    const failure = { code: 'EADDRINUSE', message: expect.stringContaining(`127.0.0.1:${port}`) };
    await expect(second.gateway.start({ host: '127.0.0.1', port })).rejects.toMatchObject(failure);
    await second.stop();
  });
});

describe('a gateway that stops', () => {
  it('lets a request under way end, and takes no new connection', async () => {
    const gateway = await start({ limits: { drainTimeoutMs: 60_000 } });
    const { begun: whenBegun, finish } = slowLambda(gateway);
    const agent = new Agent({ keepAlive: true });
    const outgoing = request({ port: gateway.port, host: '127.0.0.1', path: '/web/slow', agent }).end();
    await whenBegun;
    const stopped = gateway.stop();
    await expect(gateway.send('GET', '/web/slow')).rejects.toThrow('ECONNREFUSED');
    finish(text('in time'));
    const [response] = await once(outgoing, 'response');
    expect(response.statusCode).toBe(200);
    expect(response.headers.connection).toBe('close');
    response.resume();
    await Promise.all([stopped, once(response, 'end')]);
    agent.destroy();
  });

  it('lets an asynchronous call end, so that its result is kept', async () => {
    const gateway = await start();
    const { lambda, begun: whenBegun, finish } = slowLambda(gateway);
    await gateway.send('POST', '/api/async', { body: JSON.stringify({ lambdaId: lambda.id }) });
    await whenBegun;
    const stopped = gateway.stop();
    finish(text('kept'));
    await stopped;
    expect([...gateway.log.entries()]).toMatchObject([
      [gateway.calls[0]?.executionId, { state: 'finished', result: 'kept' }],
    ]);
  });

  it('does not wait longer than the drain timeout', async () => {
    const gateway = await start({ limits: { drainTimeoutMs: 20 } });
    const { begun: whenBegun } = slowLambda(gateway);
    const answer = expect(gateway.send('GET', '/web/slow')).rejects.toThrow(/socket hang up|ECONNRESET/);
    await whenBegun;
    await gateway.stop();
    await answer;
  });

  it('closes connections that are kept alive or never said a word', async () => {
    const gateway = await start({ limits: { keepAliveTimeoutMs: 60_000, drainTimeoutMs: 60_000 } });
    const silent = connect(gateway.port, '127.0.0.1');
    const agent = new Agent({ keepAlive: true });
    const outgoing = request({ port: gateway.port, host: '127.0.0.1', agent }).end();
    const [response] = await once(outgoing, 'response');
    response.resume();
    await once(response, 'end');
    const closed = Promise.all([once(silent, 'close'), once(outgoing.socket ?? silent, 'close')]);
    await gateway.stop();
    await closed;
    agent.destroy();
  });
});
