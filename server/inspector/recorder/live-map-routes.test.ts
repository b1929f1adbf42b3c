import { beforeAll, describe, expect, it } from 'vitest';
import type { MapNode } from '../../api/routes/live-map.ts';
import { makeAccount, rootPairOf } from '../../testing/account.ts';
import { send } from '../../testing/checked-client.ts';
import { sharedPlatform } from '../../testing/platform.ts';
import { resourceFactoryFor } from '../../testing/resource-factory.ts';
import { type Body, createTenant, grant } from '../../testing/tenant.ts';

const CRM = 'https://crm.example.com/servlet/servlet.WebToLead';
const code = `exports.run = async (event) => {
  const { fail, fields } = JSON.parse(event);
  if (fields) await fetch('${CRM}', { method: 'POST', body: new URLSearchParams(fields) });
  if (fail) throw new Error('no such number');
};`;
const FORM = { oid: '00D1', last_name: 'Byron' };

const platform = sharedPlatform();
let root: string;
let viewer: { id: string; bearer: string };
let lambda: Body;
let endpoint: Body;
let hiddenLambda: Body;

beforeAll(async () => {
  root = rootPairOf(platform);
  const acme = await createTenant(platform.root, 'acme');
  const make = resourceFactoryFor(platform.root);
  lambda = await make.lambda(acme, { code });
  endpoint = await make.endpoint(await make.api(acme), lambda);
  hiddenLambda = await make.lambda(acme, { code });
  viewer = await makeAccount(platform, 'viewer');
  await grant(platform.root, `/acme/lambdas/${lambda.id}`, 'lambda.view', viewer.id);
});

const call = (body: object) => send('POST', endpoint.properties.public_url, { body });
const readMap = async (auth = root, query = '') =>
  (await send('GET', `${platform.emulator.baseUrl}/inspect/live-map${query}`, { auth })).body;
const nodeIn = (map: Body, id: string): MapNode | undefined => map.nodes.find((node: MapNode) => node.id === id);
const edgesIn = (map: Body) =>
  map.edges.map(({ from, to, requests, failed }: Body) => `${from} > ${to}: ${requests}, ${failed} failed`);

describe('GET /inspect/live-map', () => {
  it('shows the configured nodes before any request', async () => {
    const map = await readMap();
    expect(edgesIn(map)).toEqual([`endpoints:${endpoint.id} > targets:${lambda.id}: 0, 0 failed`]);
    expect(nodeIn(map, `endpoints:${endpoint.id}`)).toMatchObject({
      ...{ kind: 'endpoint', resourceId: endpoint.id, requests: 0 },
      name: expect.stringMatching(/^\/api-\d+\/e$/),
    });
    expect(map.nodes.map(({ name }: MapNode) => name)).toEqual(
      expect.arrayContaining(['Without account', lambda.name, 'Mock CRM', 'Mock mail server', 'Mock GitLab']),
    );
  });

  it('counts each part of the way of requests, and where they stopped', async () => {
    await call({ fields: FORM });
    await call({ fields: FORM });
    await call({ fail: true });
    await call({ fields: { last_name: 'x' } });
    await send('POST', `${platform.emulator.baseUrl}/inspect/lambdas/${lambda.id}/invoke`, { auth: root, body: {} });
    const map = await readMap();
    const ids = { endpoint: `endpoints:${endpoint.id}`, lambda: `targets:${lambda.id}` };
    expect(edgesIn(map).sort()).toEqual([
      `callers:anonymous > ${ids.endpoint}: 4, 0 failed`,
      `callers:manual > ${ids.lambda}: 1, 0 failed`,
      `${ids.endpoint} > ${ids.lambda}: 4, 1 failed`,
      `${ids.lambda} > outside:crm: 3, 1 failed`,
    ]);
    expect(nodeIn(map, 'outside:crm')).toMatchObject({ requests: 3, failed: 1, isFailing: true });
    const { executionId } = nodeIn(map, 'outside:crm')?.lastFailure ?? {};
    const record = await send('GET', `${platform.emulator.baseUrl}/inspect/invocations/${executionId}`, { auth: root });
    expect(record.body).toMatchObject({ lambdaId: lambda.id, outboundFailures: 1 });
  });

  it('shows a rejected request at its endpoint, and a request to no endpoint apart', async () => {
    await send('GET', `${platform.emulator.gatewayUrl}/favicon.ico`); // by the browser, not by a person
    await send('DELETE', `${platform.emulator.gatewayUrl}/no-such-path`);
    const map = await readMap();
    const { lastFailure, ...unpublished } = nodeIn(map, 'endpoints:unpublished') ?? {};
    expect(unpublished).toMatchObject({ name: 'Other paths', requests: 1, failed: 1 });
    const { baseUrl } = platform.emulator;
    const record = await send('GET', `${baseUrl}/inspect/traffic/${lastFailure?.requestSeq}`, { auth: root });
    expect(record.body).toMatchObject({ target: '/no-such-path', status: 404 });
  });

  it('shows a viewer only visible resources and the calls of visible lambdas', async () => {
    await send('POST', `${platform.emulator.baseUrl}/inspect/lambdas/${hiddenLambda.id}/invoke`, {
      ...{ auth: root, body: { fields: FORM } },
    });
    const map = await readMap(viewer.bearer);
    expect(JSON.stringify(map)).not.toMatch(new RegExp(`${endpoint.id}|${hiddenLambda.id}|unpublished`));
    expect(nodeIn(map, `targets:${lambda.id}`)).toMatchObject({ requests: 5, failed: 1 });
    expect(map.requests).toBe(5);
    expect(nodeIn(map, 'callers:anonymous')).toBeUndefined();
    expect(nodeIn(map, 'outside:crm')?.requests).toBe(3);
    expect(edgesIn(map)).toContain(`targets:${lambda.id} > outside:crm: 3, 1 failed`);
    expect(nodeIn(await readMap(), 'outside:crm')?.requests).toBe(4);
  });

  it('forgets a failure that a replay has fixed, and is empty in the scope of another organization', async () => {
    const before = nodeIn(await readMap(), `targets:${lambda.id}`);
    const { executionId } = before?.lastFailure ?? {};
    expect(executionId).toBeTruthy();
    const path = `/inspect/invocations/${executionId}/replay`;
    await send('POST', `${platform.emulator.baseUrl}${path}`, { auth: root, body: { event: {} } });
    const map = await readMap();
    expect(nodeIn(map, `targets:${lambda.id}`)).toMatchObject({ failed: 0, isFailing: false });
    expect(nodeIn(map, 'callers:replay')).toMatchObject({ requests: 1 });
    const org = await platform.root.create('/root/orgs', { name: 'other' });
    const { nodes } = await readMap(root, `?scope=${org.id}`);
    expect(nodes.every(({ requests, resourceId }: MapNode) => requests === 0 && resourceId === undefined)).toBe(true);
  });

  it('lists what passed in the last seconds', async () => {
    const passed = async () => {
      await call({ fields: FORM });
      return (await readMap()).passages.map(({ from, to }: Body) => `${from} > ${to}`);
    };
    await expect.poll(passed).toContain(`callers:anonymous > endpoints:${endpoint.id}`);
  });
});
