import { randomUUID } from 'node:crypto';
import { plugin } from '../../plugin/plugin.ts';
import { crmPlugin } from '../crm/plugin.ts';
import { lambdaSenders } from '../lambda-senders.ts';
import { smtp } from './declaration.ts';
import { MAILS } from './mail.ts';
import { MockMail } from './mock-mail.ts';

export const smtpPlugin = plugin({
  declaration: smtp,
  needs: { crm: crmPlugin },
  async start(platform, { crm }) {
    const { config, logs, nowMs } = platform;
    const mock = new MockMail({
      mails: logs.mails,
      certificate: crm.certificate,
      nowMs,
      newId: randomUUID,
      senderOf: (executionId) => platform.slot(lambdaSenders)(executionId),
      onMail() {
        platform.notifier.notify(MAILS);
        platform.publish('mails', {});
      },
      onDeleted: () => platform.publish('mails', {}),
    });
    const address = await mock.start({ host: config.host, port: config.smtpPort });
    platform.onStop(() => mock.stop());
    platform.listensAt(address.port);
    platform.routes(async (guard) => {
      const { mailRouter } = await import('./mail-routes.ts');
      return [mailRouter(mock, platform.notifier, guard)];
    });
    return mock;
  },
});
