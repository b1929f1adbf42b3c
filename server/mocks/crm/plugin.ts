import { randomUUID } from 'node:crypto';
import type { Uuid } from '../../model/record.ts';
import { plugin, slot } from '../../plugin/plugin.ts';
import { machineMs } from '../../system/clock.ts';
import { LazyCertificate } from '../lazy-certificate.ts';
import { crm } from './declaration.ts';
import { LEADS, type LeadSender } from './lead.ts';
import { MockCrm } from './mock-crm.ts';

/** Finds the lambda that sent a lead in this invocation. */
export const leadSenders = slot<(executionId: Uuid) => LeadSender | undefined>('lead senders');

export const crmPlugin = plugin({
  declaration: crm,
  async start(platform) {
    const { config, logs, folder: dir, nowMs, warn } = platform;
    const check = platform.checkFolder;
    const certificate = new LazyCertificate({ ...(dir && { dir }), check, nowMs: machineMs, warn });
    await certificate.open();
    platform.onStop(() => certificate.stop());
    platform.onReady(() => certificate.makeSoon());
    const onDeleted = () => platform.publish('leads', {});
    const onLead = () => {
      platform.notifier.notify(LEADS);
      platform.publish('leads', {});
    };
    const mock = new MockCrm({
      leads: logs.leads,
      refusedForms: logs['refused-forms'],
      senderOf: (executionId) => platform.slot(leadSenders)(executionId),
      certificate: certificate.get,
      allowedHosts: platform.allowedHosts,
      nowMs,
      newId: randomUUID,
      onLead,
      onRefused: onLead,
      onDeleted,
    });
    const at = await mock.start({ host: config.host, port: config.crmPort });
    platform.onStop(() => mock.stop());
    platform.listensAt(at.port);
    platform.routes(async (guard) => {
      const { leadRouter } = await import('./lead-routes.ts');
      return [leadRouter(mock, platform.notifier, guard)];
    });
    return {
      crm: mock,
      /** Returns the address to which calls of lambdas to their CRM are sent. */
      address: async () => ({ ...at, caPem: (await certificate.get()).certPem }),
    };
  },
});
