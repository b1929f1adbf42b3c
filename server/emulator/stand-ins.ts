import { randomUUID } from 'node:crypto';
import type { Config } from '../config-schema.ts';
import type { RecentCalls } from '../lambdas/recent-calls.ts';
import { CrmStandIn } from '../standins/crm-stand-in.ts';
import { startScm } from '../standins/scm/scm-place.ts';
import { DEMO_PROJECT } from '../standins/scm/scm-projects.ts';
import { ScmStandIn } from '../standins/scm/scm-stand-in.ts';
import type { Data } from './data.ts';
import { hostsOf, urlOf } from './listeners.ts';
import { settleScmToken } from './scm-token.ts';
import type { Unwind } from './unwind.ts';
import type { Watch } from './watch.ts';

export interface StandInsOptions {
  config: Config;
  data: Data;
  /** Who sent a lead: lambdas whose calls were caught lately. */
  recentCalls: RecentCalls;
  nowMs(): number;
  /** Told of what they are sent. */
  watch: Pick<Watch, 'onLead' | 'onLeadsDeleted' | 'onScmRequest' | 'onScmProject'>;
  onFault(fault: unknown): void;
}

/** What stands in for the rest of the world, and listens. */
export type StandIns = Awaited<ReturnType<typeof startStandIns>>;

/** Starts the CRM and the source control that lambdas and pipelines speak to; `unwind` stops them. */
export async function startStandIns(options: StandInsOptions, unwind: Unwind) {
  const { config, data, recentCalls, watch, nowMs, onFault } = options;
  const crm = new CrmStandIn({
    leads: data.leads,
    refusedForms: data.refusedForms,
    senderOf: (executionId) => recentCalls.find(executionId),
    certificate: () => data.certificate.get(),
    nowMs,
    newId: randomUUID,
    onLead: watch.onLead,
    onRefused: watch.onLead,
    onDeleted: watch.onLeadsDeleted,
  });
  const listening = await crm.start({ host: config.host, port: config.crmPort });
  unwind.add(() => crm.stop());

  const scmToken = await settleScmToken(config);
  const scm = new ScmStandIn({
    projects: data.scm,
    token: scmToken,
    projectOfJob: (tokenId) => {
      for (const [, run] of data.pipelines.entries())
        if (run.jobTokenId === tokenId && run.state === 'running') return run.project.id;
      return undefined;
    },
    allowedHosts: hostsOf(config),
    nowMs,
    onRequest: watch.onScmRequest,
    onChange: watch.onScmProject,
    onFault,
  });
  await startScm(scm, data.places, { host: config.host, port: config.scmPort });
  unwind.add(() => scm.stop());
  if (config.seed === 'demo' && data.scm.size === 0) await scm.projects.create(DEMO_PROJECT);
  return {
    crm,
    /** Where lambdas' calls to the CRM are brought. */
    crmAddress: async () => ({ ...listening, caPem: (await data.certificate.get()).certPem }),
    crmUrl: urlOf(config.host, listening.port, 'https'),
    scm,
    /** What opens it. */
    scmToken,
  };
}
