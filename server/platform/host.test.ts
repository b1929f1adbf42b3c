import { createServer } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { leadRoutes } from '../api/routes/leads.ts';
import { listenAt } from '../api/server/listening.ts';
import { mountRoutes } from '../api/server/mount-routes.ts';
import type { Declaration } from '../plugin/declaration.ts';
import { type AnyPlugin, event, type Platform, plugin, slot } from '../plugin/plugin.ts';
import { CleanupStack } from './cleanup-stack.ts';
import { startEmulator } from './emulator.ts';
import { Host } from './host.ts';

function hostWith(stopTimeoutMs?: number) {
  const [cleanup, warnings, faults] = [new CleanupStack(), [] as string[], [] as unknown[]];
  const shared = {
    config: {},
    logs: {},
    warn: (sentence: string) => warnings.push(sentence),
    onFault: (fault: unknown) => faults.push(fault),
  };
  return { host: new Host(shared as never, cleanup, stopTimeoutMs), cleanup, warnings, faults };
}

const starts = (onStart: (platform: Platform<Declaration>) => unknown): AnyPlugin => ({
  declaration: {},
  start: async (platform: Platform<Declaration>) => onStart(platform),
});

it('names a plugin that does not start, and stops those before it in reverse order', async () => {
  const { host, cleanup } = hostWith();
  const stopped: string[] = [];
  const makePlugin = (name: string) => starts(({ onStop }) => onStop(() => stopped.push(name)));
  const broken = starts(() => {
    throw Object.assign(new Error('no such certificate'), { code: 'ENOENT' });
  });
  const started = host.start({ crm: makePlugin('crm'), scm: makePlugin('scm'), smtp: broken, fax: makePlugin('fax') });
  await expect(started).rejects.toMatchObject({ message: "'smtp' did not start: no such certificate", code: 'ENOENT' });
  await cleanup.run();
  expect(stopped).toEqual(['scm', 'crm']);
});

it('does not wait for a plugin that does not stop, and names it', async () => {
  const { host, cleanup, warnings } = hostWith(10);
  const stopped: string[] = [];
  await host.start({
    crm: starts(({ onStop }) => onStop(() => stopped.push('crm'))),
    smtp: starts(({ onStop }) => onStop(() => new Promise(() => {}))),
  });
  await cleanup.run();
  expect(warnings).toEqual(["'smtp' did not stop within 0.01 s; the platform stops without it"]);
  expect(stopped).toEqual(['crm']);
});

it('stops plugins when their routes that are being loaded are loaded', async () => {
  const { host, cleanup } = hostWith();
  const order: string[] = [];
  const slow = starts(({ mount, onStop }) => {
    onStop(() => order.push('stopped'));
    mount('/meta', async () => {
      await nextTurn();
      order.push('loaded');
      return () => {};
    });
  });
  await host.start({ slow });
  host.routers(expect.anything()).preload();
  await cleanup.run();
  expect(order).toEqual(['loaded', 'stopped']);
});

it('refuses two plugins with the same route and names both', async () => {
  const { host } = hostWith();
  const withLeads = starts(({ routes }) => {
    routes(async (guard) => [mountRoutes({ listLeads: leadRoutes.listLeads }, guard, { listLeads: () => [] })]);
  });
  await host.start({ crm: withLeads, scm: starts(() => {}), smtp: { ...withLeads } });
  await expect(host.routes(expect.anything())).rejects.toThrow(
    "'crm' and 'smtp' both have the route 'get /inspect/leads': change one",
  );
});

it('starts plugins after those that they need', async () => {
  const { host } = hostWith();
  const order: string[] = [];
  const makePlugin = (name: string, needs = {}) => ({ ...starts(() => order.push(name)), needs });
  const [crm, scm] = [makePlugin('crm'), makePlugin('scm')];
  const fax = makePlugin('fax', { crm, scm });
  await host.start({ fax, scm, crm });
  expect(order).toEqual(['crm', 'scm', 'fax']);
  await expect(hostWith().host.start({ fax, scm })).rejects.toThrow("'fax' needs 'crm', which is not in the list");
});

it('names a plugin that uses what nothing provides yet', async () => {
  const { host } = hostWith();
  const user = starts((platform) => platform.slot(slot('fax machine')));
  await expect(host.start({ user })).rejects.toThrow(
    "nothing provides 'fax machine': list the plugin that does before",
  );
});

it('refuses two plugins that answer below the same path, at start', async () => {
  const phone = starts(({ mount }) => mount('/phone', async () => () => {}));
  const started = hostWith().host.start({ crm: phone, smtp: { ...phone } });
  await expect(started).rejects.toThrow("'crm' and 'smtp' both answer below '/phone': change one");
});

it('does not compile when a plugin uses one that it does not declare', async () => {
  const crm = plugin({ declaration: {}, start: () => ({ leads: 1 }) });
  const smtp = plugin({
    declaration: {},
    needs: { crm },
    start: (_platform, needs) => [
      needs.crm.leads,
      // @ts-expect-error: not among its needs
      needs.scm,
    ],
  });
  expect(await hostWith().host.start({ crm, smtp })).toEqual({ crm: { leads: 1 }, smtp: [1, undefined] });
});

it('reports a subscriber that throws with its plugin, and tells the others', async () => {
  const { host: events, faults } = hostWith();
  const [leadCame, receivedLeads, cause] = [event<string>('lead came'), [] as string[], new Error('full')];
  events.on(leadCame, 'smtp', () => {
    throw cause;
  });
  events.on(leadCame, 'pager', () => Promise.reject(cause));
  events.on(leadCame, 'fax', (lead) => receivedLeads.push(lead));
  events.emit(leadCame, 'Ada');
  expect(receivedLeads).toEqual(['Ada']);
  await expect.poll(() => faults.length).toBe(2);
  expect(faults).toEqual(
    ['smtp', 'pager'].map((name) =>
      expect.objectContaining({ message: `plugin '${name}' failed at event 'lead came'`, cause }),
    ),
  );
});

it('waits for all subscribers, and then rejects with what failed', async () => {
  const { host: events } = hostWith();
  const [rulesChanged, applied] = [event<string>('rules changed'), [] as string[]];
  events.on(rulesChanged, 'smtp', () => Promise.reject(new Error('full')));
  events.on(rulesChanged, 'lambdas', async (rules) => {
    await new Promise(setImmediate);
    applied.push(rules);
  });
  await expect(events.settle(rulesChanged, 'block all')).rejects.toThrow(
    "plugin 'smtp' failed at event 'rules changed'",
  );
  expect(applied).toEqual(['block all']);
});

it.each(['crmPort', 'scmPort'] as const)('a %s that is in use is an error of the system with its code', async (key) => {
  const server = createServer();
  const { port } = await listenAt(server, { host: '127.0.0.1', port: 0 });
  const started = startEmulator({ seed: 'empty', containers: { engine: 'none' }, [key]: port });
  await expect(started).rejects.toMatchObject({ code: 'EADDRINUSE', syscall: 'listen', port });
  server.close();
});
