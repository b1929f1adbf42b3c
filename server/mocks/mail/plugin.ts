import { randomUUID } from 'node:crypto';
import { plugin } from '../../plugin/plugin.ts';
import { crmPlugin } from '../crm/plugin.ts';
import { connectionExecutions, lambdaSenders, portRoutes } from '../lambda-calls.ts';
import { smtp } from './declaration.ts';
import { MAILS } from './mail.ts';
import { MockMail } from './mock-mail.ts';

/** Ports of mail servers: relay, implicit TLS, submission, and what development servers use. */
const MAIL_PORTS = [25, 465, 587, 1025, 2525];

export const smtpPlugin = plugin({
  declaration: smtp,
  needs: { crm: crmPlugin },
  async start(platform, { crm }) {
    const { config, logs, nowMs } = platform;
    const mock = new MockMail({
      mails: logs.mails,
      certificate: crm.certificate,
      faults: platform.faults,
      nowMs,
      newId: randomUUID,
      executionOf: (remotePort) => platform.slot(connectionExecutions)(remotePort),
      senderOf: (executionId) => platform.slot(lambdaSenders)(executionId),
      onChange() {
        platform.notifier.notify(MAILS);
        platform.publish('mails', {});
      },
    });
    const address = await mock.start({ host: config.host, port: config.smtpPort });
    platform.onStop(() => mock.stop());
    platform.listensAt(address.port);
    platform.fill(portRoutes, async () => {
      if (config.outbound.mail === 'pass') return [];
      const { certPem: caPem } = await crm.certificate();
      return [{ ports: MAIL_PORTS, address: { ...address, caPem }, mock: 'mail' }];
    });
    platform.routes(async (guard) => {
      const { mailRouter } = await import('./mail-routes.ts');
      return [mailRouter(mock, platform.notifier, guard)];
    });
    return mock;
  },
});
