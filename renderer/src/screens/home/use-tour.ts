import { useMutation, useQuery } from '@tanstack/react-query';
import { load, send } from '../../api/client.ts';
import { type Failure, failureOf } from '../../api/failure.ts';
import { keys, queryClient } from '../../api/query-client.ts';
import { fqonOf, type PlatformRecord, referenceId, useWorld } from '../../api/world.ts';
import { toast } from '../../parts/toasts.tsx';

/** The sample app's pipeline, run from here. */
interface DemoPipeline {
  /** Asked for, but nothing has begun yet. */
  isStarting: boolean;
  isRunning: boolean;
  failure: Failure | undefined;
  run(): void;
}

/** How far someone has come with the first steps. */
export interface Tour {
  hasDemo: boolean;
  /** The lambda that takes the web form. */
  form: PlatformRecord | undefined;
  formUrl: string | undefined;
  deployUrl: string | undefined;
  leadCount: number;
  runCount: number;
  pipeline: DemoPipeline;
  /** Where the app of the latest good pipeline is. */
  appUrl: string | undefined;
  isSending: boolean;
  failure: Failure | undefined;
  sendForm(): void;
}

/** The fields of the CRM integration's web form. */
const FORM = {
  payload: {
    firstName: 'Ada',
    lastName: 'Lovelace',
    company: 'Analytical Engines',
    phone: '+44 20 0000 0000',
    email: 'ada@example.com',
    title: 'Programmer',
    size: '10',
    message: 'Please call me back',
  },
};

/** The organization of the demo world (fixtures/worlds/demo.yaml). */
const DEMO = 'demo';

export function useTour(): Tour {
  const orgs = useWorld<PlatformRecord[]>('/orgs', { expand: true }).data ?? [];
  const hasDemo = orgs.some((org) => fqonOf(org) === DEMO);
  const lambdas = useWorld<PlatformRecord[]>(`/${DEMO}/lambdas`, { expand: true }, hasDemo).data ?? [];
  const endpoints = useWorld<PlatformRecord[]>(`/${DEMO}/apiendpoints`, { expand: true }, hasDemo).data ?? [];
  const leads = useQuery({
    queryKey: [keys.leads, 'all'],
    queryFn: ({ signal }) => load<unknown[]>('/inspect/leads', {}, signal),
  });
  const runs = useQuery({
    queryKey: [keys.pipelines, 'all'],
    queryFn: ({ signal }) => load<{ state: string; appUrl?: string }[]>('/inspect/pipelines', {}, signal),
  });

  const form = lambdas.find(({ properties }) => isObject(properties.env) && 'CRM_OID' in properties.env);
  const urlOf = (endpoint: PlatformRecord | undefined) =>
    typeof endpoint?.properties.public_url === 'string' ? endpoint.properties.public_url : undefined;
  const sending = useMutation({
    mutationFn: async () => {
      if (form) await send('POST', `/inspect/lambdas/${form.id}/invoke`, FORM);
    },
    onSuccess: () => {
      toast({ tone: 'ok', text: 'The form was sent. Its lead is in the inbox.' });
      void queryClient.invalidateQueries({ queryKey: [keys.leads] });
    },
  });

  const starting = useMutation({
    mutationFn: () => send('POST', '/inspect/pipelines/demo'),
    onSuccess: () => void queryClient.invalidateQueries({ queryKey: [keys.pipelines] }),
  });

  return {
    hasDemo,
    form,
    formUrl: urlOf(endpoints.find(({ properties }) => form && referenceId(properties.implementation_id) === form.id)),
    deployUrl: urlOf(endpoints.find(({ properties }) => properties.resource === '/deploy')),
    leadCount: leads.data?.length ?? 0,
    runCount: runs.data?.length ?? 0,
    pipeline: {
      isStarting: starting.isPending,
      isRunning: runs.data?.some(({ state }) => state === 'running') ?? false,
      failure: starting.error ? failureOf(starting.error) : undefined,
      run: () => starting.mutate(),
    },
    appUrl: runs.data?.find(({ state, appUrl }) => state === 'success' && appUrl !== undefined)?.appUrl,
    isSending: sending.isPending,
    failure: sending.error ? failureOf(sending.error) : undefined,
    sendForm: () => sending.mutate(),
  };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
