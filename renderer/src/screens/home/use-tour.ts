import { useQuery } from '@tanstack/react-query';
import { memberOf } from '../../../../server/model/json.ts';
import { WEB_FORM } from '../../../../server/model/web-form.ts';
import { load, send } from '../../api/client.ts';
import { keys } from '../../api/query-client.ts';
import { sendThroughGateway } from '../../api/send-request.ts';
import { toastCommit } from '../../api/undo.ts';
import { useChange } from '../../api/use-change.ts';
import { useFigures } from '../../api/use-figures.ts';
import { usePlatformStatus } from '../../api/use-platform-status.ts';
import { useRead } from '../../api/use-read.ts';
import { fqonOf, type PlatformRecord, referenceId, useWorld } from '../../api/use-world.ts';
import { toast } from '../../components/toasts.tsx';
import type { FirstStep } from '../../preferences/preferences.ts';
import { ALL_FORMS } from '../leads/use-leads.ts';
import { type RunSummary, SAMPLE_PROJECT } from '../pipelines/use-pipelines.ts';

export interface Tour {
  /** True while it is being read; nothing can be said yet. */
  isLoading: boolean;
  /** Undefined while it is read. */
  hasDemo: boolean | undefined;
  /** The lambda that takes the web form. */
  form: PlatformRecord | undefined;
  formUrl: string | undefined;
  deployUrl: string | undefined;
  leadCount: number;
  /** The newest run of the sample app. */
  lastRun: RunSummary | undefined;
  /** The reason that a pipeline cannot run now: no container engine responds. */
  engineTrouble: string | undefined;
  /** The address of the app of the latest successful pipeline; undefined if there is none, or none any more. */
  appUrl: string | undefined;
  /** Was there an app whose endpoint is gone? */
  isAppGone: boolean;
}

/** A form that no lead came of. */
interface UnmatchedForm {
  /** Absent where the gateway itself responded. */
  executionId: string | undefined;
  message: string;
}

/** Longest part of a response in a message. */
const MAX_SAID = 200;
/** The organization of the demo world (fixtures/worlds/demo.yaml). */
const DEMO = 'demo';
/** The path of the endpoint of the demo's contact form, within its API. */
const CONTACT = '/lead';

export function useTour(): Tour {
  const orgs = useWorld<PlatformRecord[]>('/orgs', { expand: true });
  const hasDemo = orgs.data?.some((org) => fqonOf(org) === DEMO);
  const demoLambdas = useWorld<PlatformRecord[]>(`/${DEMO}/lambdas`, { expand: true }, hasDemo === true);
  const lambdas = demoLambdas.data ?? [];
  const demoEndpoints = useWorld<PlatformRecord[]>(`/${DEMO}/apiendpoints`, { expand: true }, hasDemo === true);
  const listed = demoEndpoints.data;
  const endpoints = (hasDemo && listed) || [];
  const leads = useFigures(ALL_FORMS);
  const allRuns = useRead(keys.pipelines, '/inspect/pipelines').data ?? [];
  const runs = allRuns.filter(({ project }) => project.path === SAMPLE_PROJECT);
  const engine = usePlatformStatus().data?.engines[0];

  const implementationOf = ({ properties }: PlatformRecord) =>
    lambdas.find(({ id }) => id === referenceId(properties.implementation_id));
  // The contact form of the demo stays the form when its variables are broken; otherwise any lambda that knows a CRM is.
  const contact = endpoints.find((endpoint) => endpoint.properties.resource === CONTACT && implementationOf(endpoint));
  const form = contact
    ? implementationOf(contact)
    : (hasDemo && lambdas.find(({ properties }) => memberOf(properties.env, 'CRM_OID') !== undefined)) || undefined;
  const formUrl = urlOf(
    contact ?? endpoints.find(({ properties }) => form && referenceId(properties.implementation_id) === form.id),
  );
  const published = runs
    .find(({ state, appUrl }) => state === 'success' && appUrl !== undefined)
    ?.deployments?.at(-1)?.published;
  // The address can change after a restart, so the current one of the endpoint is used.
  const appUrl = urlOf(endpoints.find(({ id }) => id === published?.id));

  return {
    isLoading: [orgs, demoLambdas, demoEndpoints, leads].some(({ isLoading }) => isLoading),
    hasDemo,
    form,
    formUrl,
    deployUrl: urlOf(endpoints.find(({ properties }) => properties.resource === '/deploy')),
    leadCount: leads.data?.ok ?? 0,
    lastRun: runs[0],
    engineTrouble: engine && engine.state !== 'ready' ? (engine.reason ?? `it is ${engine.state}`) : undefined,
    appUrl,
    isAppGone: published !== undefined && listed !== undefined && appUrl === undefined,
  };
}

/** Returns true if everything that can be tried here has been tried. Other content then comes first. */
export function areStepsDone({ leadCount, engineTrouble, lastRun }: Tour): boolean {
  return leadCount > 0 && (engineTrouble !== undefined || lastRun?.state === 'success');
}

const OWN_STEPS: readonly FirstStep[] = ['browse', 'undo', 'own-form'];

/** Are the first steps not shown any more: all are done, or the user has hidden them? */
export function areStepsOver(tour: Tour, steps: readonly string[]): boolean {
  return steps.includes('hidden') || (areStepsDone(tour) && OWN_STEPS.every((step) => steps.includes(step)));
}

function urlOf(endpoint: PlatformRecord | undefined): string | undefined {
  const url = endpoint?.properties.public_url;
  return typeof url === 'string' ? url : undefined;
}

/** Sends the form. The result is the outcome of the form if it did not become a lead. */
export function useFormSending(formUrl: string | undefined) {
  return useChange(() => sendForm(formUrl), { topic: keys.forms, onDone: showFormOutcome });
}

/** Sends it as a visitor's browser would, through the gateway. Resolves to what came of it instead of a lead. */
async function sendForm(formUrl: string | undefined): Promise<UnmatchedForm | undefined> {
  if (formUrl === undefined) return undefined;
  const { status, body, executionId } = await sendThroughGateway({
    method: 'POST',
    path: new URL(formUrl).pathname,
    headers: [['Content-Type', 'application/json']],
    body: JSON.stringify(WEB_FORM),
    asMe: false,
  });
  if (status >= 400) return { executionId, message: `the response was ${status}: ${body.slice(0, MAX_SAID)}` };
  const leads = await load('/inspect/leads', { execution: executionId });
  if (leads.length > 0) return undefined;
  const [rejected] = await load('/inspect/leads', { execution: executionId, refused: true });
  const reason = rejected?.refused ? `the CRM rejected it (${rejected.refused.message})` : 'no lead was sent';
  return { executionId, message: `the response was ${status}, but ${reason}` };
}

function showFormOutcome(stray: UnmatchedForm | undefined): void {
  if (!stray) toast({ tone: 'ok', text: 'The form was sent. Its lead is in the inbox.' });
}

const DEMO_SEED = { seed: 'demo' };

/**
 * Reads the changes that the demo world would make.
 * @param isWanted false: it is here already, nothing is asked
 */
export function useDemoTrial(isWanted: boolean) {
  return useQuery({
    queryKey: [keys.world, 'reset to the demo'],
    queryFn: () => send('POST', '/inspect/reset', { ...DEMO_SEED, dryRun: true }),
    enabled: isWanted,
  });
}

export function useDemoBringing() {
  return useChange(() => send('POST', '/inspect/reset', DEMO_SEED), {
    onDone: ({ commit }) => toastCommit('The demo world was added.', commit),
  });
}
