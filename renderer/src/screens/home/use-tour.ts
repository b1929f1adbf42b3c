import { useQuery } from '@tanstack/react-query';
import { memberOf } from '../../../../server/model/json.ts';
import { WEB_FORM } from '../../../../server/model/web-form.ts';
import { useChange } from '../../api/change.ts';
import { load, send } from '../../api/client.ts';
import { usePlatformStatus } from '../../api/platform-status.ts';
import { keys } from '../../api/query-client.ts';
import { useRead } from '../../api/read.ts';
import { sendThroughGateway } from '../../api/send-request.ts';
import { fqonOf, type PlatformRecord, referenceId, useWorld } from '../../api/world.ts';
import { toast } from '../../parts/toasts.tsx';
import type { RunSummary } from '../pipelines/use-pipelines.ts';

/** How far someone has come with the first steps. */
export interface Tour {
  /** Undefined while it is read. */
  hasDemo: boolean | undefined;
  /** The lambda that takes the web form. */
  form: PlatformRecord | undefined;
  formUrl: string | undefined;
  deployUrl: string | undefined;
  leadCount: number;
  /** The newest run of any pipeline. */
  lastRun: RunSummary | undefined;
  /** Why a pipeline could not work now: no container engine answers. */
  engineTrouble: string | undefined;
  /** Where the app of the latest good pipeline is; undefined when there is none, or none any more. */
  appUrl: string | undefined;
  /** Was there an app whose endpoint is gone? */
  isAppGone: boolean;
}

/** A form that no lead came of. */
interface Stray {
  /** Absent where the gateway answered by itself. */
  executionId: string | undefined;
  message: string;
}

/** So much of an answer is told. */
const MAX_SAID = 200;
/** The organization of the demo world (fixtures/worlds/demo.yaml). */
const DEMO = 'demo';

export function useTour(): Tour {
  const orgs = useWorld<PlatformRecord[]>('/orgs', { expand: true }).data;
  const hasDemo = orgs?.some((org) => fqonOf(org) === DEMO);
  const lambdas = useWorld<PlatformRecord[]>(`/${DEMO}/lambdas`, { expand: true }, hasDemo === true).data ?? [];
  const listed = useWorld<PlatformRecord[]>(`/${DEMO}/apiendpoints`, { expand: true }, hasDemo === true).data;
  const endpoints = (hasDemo && listed) || [];
  const leads = useRead(keys.leads, '/inspect/leads');
  const runs = useRead(keys.pipelines, '/inspect/pipelines').data ?? [];
  const engine = usePlatformStatus().data?.engines[0];

  const form = hasDemo
    ? lambdas.find(({ properties }) => memberOf(properties.env, 'CRM_OID') !== undefined)
    : undefined;
  const formUrl = urlOf(
    endpoints.find(({ properties }) => form && referenceId(properties.implementation_id) === form.id),
  );
  const published = runs
    .find(({ state, appUrl }) => state === 'success' && appUrl !== undefined)
    ?.deployments?.at(-1)?.published;
  // Its address may be another one after a restart: what the endpoint says now counts.
  const appUrl = urlOf(endpoints.find(({ id }) => id === published?.id));

  return {
    hasDemo,
    form,
    formUrl,
    deployUrl: urlOf(endpoints.find(({ properties }) => properties.resource === '/deploy')),
    leadCount: leads.data?.length ?? 0,
    lastRun: runs[0],
    engineTrouble: engine && engine.state !== 'ready' ? (engine.reason ?? `it is ${engine.state}`) : undefined,
    appUrl,
    isAppGone: published !== undefined && listed !== undefined && appUrl === undefined,
  };
}

/** Has everything been tried that can be tried here? Then other things come first. */
export function areStepsDone({ leadCount, engineTrouble, lastRun }: Tour): boolean {
  return leadCount > 0 && (engineTrouble !== undefined || lastRun?.state === 'success');
}

function urlOf(endpoint: PlatformRecord | undefined): string | undefined {
  const url = endpoint?.properties.public_url;
  return typeof url === 'string' ? url : undefined;
}

/** Sends the form; what it has is what came of the form instead of a lead. */
export function useFormSending(formUrl: string | undefined) {
  return useChange(() => sendForm(formUrl), { topic: keys.leads, onDone: tellOfForm });
}

/** Sends it as a visitor's browser would, through the gateway. Resolves to what came of it instead of a lead. */
async function sendForm(formUrl: string | undefined): Promise<Stray | undefined> {
  if (formUrl === undefined) return undefined;
  const { status, body, executionId } = await sendThroughGateway({
    method: 'POST',
    path: new URL(formUrl).pathname,
    headers: [['Content-Type', 'application/json']],
    body: JSON.stringify(WEB_FORM),
    asMe: false,
  });
  if (status >= 400) return { executionId, message: `the answer was ${status}: ${body.slice(0, MAX_SAID)}` };
  const leads = await load('/inspect/leads', { execution: executionId });
  if (leads.length > 0) return undefined;
  return { executionId, message: 'the lambda ran, but sent nothing that became a lead' };
}

function tellOfForm(stray: Stray | undefined): void {
  if (!stray) toast({ tone: 'ok', text: 'The form was sent. Its lead is in the inbox.' });
}

const DEMO_SEED = { seed: 'demo' };

/** What the demo world would change. @param isWanted false: it is here already, nothing is asked */
export function useDemoTrial(isWanted: boolean) {
  return useQuery({
    queryKey: [keys.world, 'reset to the demo'],
    queryFn: () => send('POST', '/inspect/reset', { ...DEMO_SEED, dryRun: true }),
    enabled: isWanted,
  });
}

/** Brings the demo world into an instance that began without it. */
export function useDemoBringing() {
  return useChange(() => send('POST', '/inspect/reset', DEMO_SEED), {
    said: ({ commit }) => `The demo world is here: commit ${commit ?? ''}, which the history can take back.`,
  });
}
