import { randomUUID } from 'node:crypto';
import { plugin } from '../../plugin/plugin.ts';
import { machineMs } from '../../system/clock.ts';
import { LazyCertificate } from '../certificate.ts';
import { lambdaSenders } from '../lambda-calls.ts';
import { crm } from './declaration.ts';
import { LEADS } from './lead.ts';
import { MockCrm } from './mock-crm.ts';

export const crmPlugin = plugin({
  declaration: crm,
  async start(platform) {
    const { config, logs, folder: dir, nowMs, warn } = platform;
    const check = platform.checkFolder;
    const certificate = new LazyCertificate({ ...(dir && { dir }), check, nowMs: machineMs, warn });
    await certificate.open();
    platform.onStop(() => certificate.stop());
    platform.onReady(() => certificate.makeSoon());
    const mock = new MockCrm({
      leads: logs.leads,
      refusedForms: logs['refused-forms'],
      senderOf: (executionId) => platform.slot(lambdaSenders)(executionId),
      certificate: certificate.get,
      allowedHosts: platform.allowedHosts,
      faults: platform.faults,
      nowMs,
      newId: randomUUID,
      onChange() {
        platform.notifier.notify(LEADS);
        platform.publish('leads', {});
      },
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
      /** The certificate that all mocks show. */
      certificate: certificate.get,
      /** Returns the address to which calls of lambdas to their CRM are sent. */
      address: async () => ({ ...at, caPem: (await certificate.get()).certPem }),
    };
  },
});
