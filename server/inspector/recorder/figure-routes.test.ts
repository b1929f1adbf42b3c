import { beforeAll, describe, expect, it } from 'vitest';
import { makeAccount, rootPairOf } from '../../testing/account.ts';
import { send } from '../../testing/checked-client.ts';
import { sharedPlatform } from '../../testing/platform.ts';
import { resourceFactoryFor } from '../../testing/resource-factory.ts';
import { type Body, createTenant, grant, type Tenant } from '../../testing/tenant.ts';

/** Fails, calls the CRM in vain, or returns its number. */
const code = `exports.run = async (event) => {
  const { n, fail, call } = JSON.parse(event);
  console.log('number ' + n);
  if (fail) throw new Error('no such number');
  if (call) await fetch('https://crm.example.com/servlet/servlet.WebToLead', { method: 'POST', body: 'last_name=x' });
  return String(n);
};`;
const CALLS = 60;

const platform = sharedPlatform();
let acme: Tenant;
let root: string;
let first: Body;

beforeAll(async () => {
  root = rootPairOf(platform);
  acme = await createTenant(platform.root, 'acme');
  const make = resourceFactoryFor(platform.root);
  const endpoints: Body[] = [];
  for (let count = 0; count < 2; count++) {
    const lambda = await make.lambda(acme, { code });
    if (count === 0) first = lambda;
    endpoints.push(await make.endpoint(await make.api(acme), lambda));
  }
  for (let n = 0; n < CALLS; n++) {
    const { public_url: url } = endpoints[n % 2]?.properties ?? {};
    await send('POST', n % 10 === 9 ? `${url}-absent` : url, { body: { n, fail: n % 3 === 0, call: n % 7 === 0 } });
  }
});

const inspect = (path: string, auth = root) => send('GET', `${platform.emulator.baseUrl}/inspect/${path}`, { auth });

interface Row {
  atMs: number;
  tookMs?: number;
  state: 'ok' | 'refused' | 'failed';
}
const stateOfRequest = ({ status, outboundFailures }: Body): Row['state'] => {
  if (status >= 500) return 'failed';
  return status >= 400 ? 'refused' : outboundFailures ? 'failed' : 'ok';
};
const ROWS: Record<string, { name: string; toRow(record: Body): Row }> = {
  invocations: {
    name: 'invocations',
    toRow: ({ acceptedAt, durationMs, outcome, outboundFailures }) => ({
      atMs: Date.parse(acceptedAt),
      tookMs: durationMs,
      state: outcome.ok && outboundFailures === 0 ? 'ok' : 'failed',
    }),
  },
  traffic: {
    name: 'requests',
    toRow: (record) => ({ atMs: Date.parse(record.at), tookMs: record.durationMs, state: stateOfRequest(record) }),
  },
  'outbound-calls': {
    name: 'calls',
    toRow: ({ startedAt, durationMs, status = 0 }) => ({
      atMs: Date.parse(startedAt),
      tookMs: durationMs,
      state: status >= 200 && status < 400 ? 'ok' : 'failed',
    }),
  },
  'log-lines': {
    name: 'lines',
    toRow: ({ at, stream }) => ({ atMs: Date.parse(at), state: stream === 'stderr' ? 'failed' : 'ok' }),
  },
};

/** All rows of a list, page by page. */
async function rowsOf(list: string, query: string, auth: string): Promise<Row[]> {
  const { name, toRow } = ROWS[list] ?? { name: '', toRow: undefined };
  const rows: Row[] = [];
  for (let before: number | undefined; ; ) {
    const { body } = await inspect(`${list}?limit=25&${query}${before === undefined ? '' : `&before=${before}`}`, auth);
    rows.push(...body[name].map(toRow));
    if (body.next === undefined) return rows;
    before = body.next;
  }
}

function spanOf(rows: readonly Row[]) {
  const took = rows.flatMap(({ tookMs }) => tookMs ?? []).sort((a, other) => a - other);
  const share = (part: number) => took[Math.ceil(part * took.length) - 1];
  const count = (expectedState: string) => rows.filter(({ state }) => state === expectedState).length;
  return {
    ok: count('ok'),
    refused: count('refused'),
    failed: count('failed'),
    slowestMs: took.at(-1),
    percentiles: [share(0.5), share(0.95), share(0.99)],
  };
}
const summaryOf = ({ ok, refused, failed, slowest, p50Ms, p95Ms, p99Ms }: Body) => ({
  ...{ ok, refused, failed, slowestMs: slowest?.tookMs },
  percentiles: [p50Ms, p95Ms, p99Ms],
});

describe('GET /inspect/figures', () => {
  it.each([
    ['invocations', ''],
    ['invocations', 'q=status:error'],
    ['invocations', 'q=time:>1h -status:error dur:>0 out:<1'],
    ['invocations', 'q="no such number"'],
    ['invocations', 'lambda=FIRST'],
    ['traffic', ''],
    ['traffic', 'plane=gateway&q=is:failed'],
    ['traffic', 'plane=control'],
    ['traffic', 'q=is:rejected'],
    ['traffic', 'q=status:404'],
    ['traffic', 'q=path:absent'],
    ['outbound-calls', ''],
    ['outbound-calls', 'q=is:failed'],
    ['log-lines', ''],
    ['log-lines', 'q=stream:stdout "number 1"'],
  ])('counts in %s?%s what the list contains', async (list, queryTemplate) => {
    const query = queryTemplate.replace('FIRST', first.id);
    const rows = await rowsOf(list, query, root);
    const { body } = await inspect(`figures?of=${list}&buckets=20&${query}`);
    expect(rows.length).toBeGreaterThan(1);
    expect(summaryOf(body)).toEqual(spanOf(rows));
    const fromMs = Date.parse(body.from);
    expect(body.buckets.length).toBeLessThanOrEqual(20);
    expect(Date.parse(body.to)).toBe(fromMs + body.buckets.length * body.bucketMs);
    for (const [index, bucket] of body.buckets.entries()) {
      const beginMs = fromMs + index * body.bucketMs;
      expect(summaryOf(bucket)).toEqual(
        spanOf(rows.filter(({ atMs }) => atMs >= beginMs && atMs < beginMs + body.bucketMs)),
      );
    }
    expect(body).not.toHaveProperty('countedFrom');
  });

  it('counts the part of the time that the search asks for, and the list contains that part', async () => {
    const times = (await rowsOf('invocations', '', root)).map(({ atMs }) => atMs).sort((a, other) => a - other);
    const [from, to] = [times[20], times[40]].map((atMs = 0) => new Date(atMs).toISOString());
    const query = `q=time:>=${from} time:<${to}`;
    const rows = await rowsOf('invocations', query, root);
    const { body } = await inspect(`figures?of=invocations&${query}`);
    expect(body.ok + body.failed).toBe(rows.length);
    expect(Date.parse(body.from)).toBeLessThanOrEqual(times[20] ?? 0);
    const isAsked = (atMs: number) => atMs >= (times[20] ?? 0) && atMs < (times[40] ?? 0);
    expect(rows.map(({ atMs }) => atMs).sort()).toEqual(times.filter(isAsked));
  });

  it('names the slowest one, whose place leads to its row', async () => {
    const { slowest } = (await inspect('figures?of=invocations')).body;
    const [row] = (await inspect(`invocations?before=${slowest.seq + 1}&limit=1`)).body.invocations;
    expect(row.durationMs).toBe(slowest.tookMs);
  });

  it('counts for each user what that user may see', async () => {
    const { id, basic: auth } = await makeAccount(platform, 'viewer');
    const figures = async () => summaryOf((await inspect('figures?of=invocations', auth)).body);
    expect(await figures()).toMatchObject({ ok: 0, failed: 0 });
    await grant(platform.root, `/acme/lambdas/${first.id}`, 'lambda.view', id);
    expect(await figures()).toEqual(spanOf(await rowsOf('invocations', '', auth)));
    expect(await figures()).toEqual(spanOf(await rowsOf('invocations', `lambda=${first.id}`, root)));
    const requests = summaryOf((await inspect('figures?of=traffic', auth)).body);
    expect(requests).toEqual(spanOf(await rowsOf('traffic', '', auth)));
  });

  it('explains a search that cannot be read', async () => {
    expect(await inspect('figures?of=invocations&q=size:1')).toMatchObject({
      status: 400,
      body: { message: expect.stringMatching(/the field 'size:' does not exist/) },
    });
  });
});
