import { crmPlugin } from '../../mocks/crm/plugin.ts';
import { scmPlugin } from '../../mocks/scm/plugin.ts';
import { plugin } from '../../plugin/plugin.ts';
import { outboundRules } from '../../plugin/tokens.ts';
import { containersPlugin } from '../../runtimes/containers/plugin.ts';
import { lambdasPlugin } from '../../runtimes/lambdas/plugin.ts';
import { historyPlugin } from '../../services/history/plugin.ts';
import { securityPlugin } from '../../services/security/plugin.ts';
import { recorderPlugin } from './plugin.ts';

export const recordedPlugin = plugin({
  declaration: {},
  needs: {
    crm: crmPlugin,
    scm: scmPlugin,
    security: securityPlugin,
    history: historyPlugin,
    lambdas: lambdasPlugin,
    containers: containersPlugin,
    recorded: recorderPlugin,
  },
  start(platform, { crm: { crm }, scm, security, history, lambdas: invoker, containers, recorded }) {
    const { addresses, notifier, nowMs } = platform;
    const { credentials } = security;
    platform.routes(async (guard) => {
      const [
        historyService,
        { invokeRouter, logRouter, plainLogRouter },
        { lineListRouter, outboundListRouter },
        { recorderRouter },
        { failureRouter },
        { searchRouter },
        { sendingRouter },
        { figureRouter },
        { formRouter },
        { liveMapRouter },
        { SentForms },
      ] = await Promise.all([
        history.service(),
        import('./lambda-routes.ts'),
        import('./recorded-part-routes.ts'),
        import('./recorder-routes.ts'),
        import('./failure-routes.ts'),
        import('./search-routes.ts'),
        import('./sending-routes.ts'),
        import('./figure-routes.ts'),
        import('./form-routes.ts'),
        import('./live-map-routes.ts'),
        import('./sent-forms.ts'),
      ]);
      const parts = {
        ...recorded,
        ...{ historyService, invoker, notifier, nowMs, secrets: () => scm.secrets() },
        ...{ lambdaLog: invoker, containerLog: containers },
        refusalOf: (executionId: string) => crm.refusalOf(executionId),
        rules: () => platform.slot(outboundRules).list(),
        forms: new SentForms({ recorder: recorded.recorder, crm, view: guard.view }),
      };
      return [
        invokeRouter(invoker, guard),
        logRouter(parts, guard),
        plainLogRouter(parts, guard),
        lineListRouter(parts, guard),
        outboundListRouter(parts, guard),
        recorderRouter(parts, guard),
        failureRouter(parts, guard),
        figureRouter(parts, guard),
        formRouter(parts, guard),
        liveMapRouter({ ...parts, scmHost: () => new URL(addresses.local('scm')).host }, guard),
        searchRouter({ ...parts, crm }, guard),
        sendingRouter(
          { gatewayUrl: () => addresses.local('gateway'), credentials, saved: recorded.savedRequests },
          guard,
        ),
      ];
    });
  },
});
