import { QueryClient } from '@tanstack/react-query';
import { FailureError } from './failure.ts';

const MAX_RETRIES = 2;

/**
 * Everything that was read from the server, by key. Keys start with a word of `keys`, so an event can name the data that is old. Data that
 * the stream keeps current does not become old with time.
 */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // The platform is on this machine: whether that has a network says nothing of it.
      networkMode: 'always',
      staleTime: Number.POSITIVE_INFINITY,
      refetchOnWindowFocus: false,
      // A server that said no says it again; one that is gone may come back.
      retry: (count, thrown) =>
        count < MAX_RETRIES && thrown instanceof FailureError && thrown.failure.kind === 'offline',
    },
    mutations: { networkMode: 'always', retry: false },
  },
});

/** The first word of a query's key: what it is about. */
export const keys = {
  /** Records of the world: organizations, lambdas ... Old after each commit. */
  world: 'world',
  invocations: 'invocations',
  traffic: 'traffic',
  /** The ways of requests, as Home shows them. */
  map: 'map',
  leads: 'leads',
  /** Forms that were sent, whether or not a lead came of them. */
  forms: 'forms',
  mails: 'mails',
  outbound: 'outbound',
  /** Fault rules and the platform's clock. */
  simulation: 'simulation',
  /** The tools for working on a lambda: linked file, test events, debugger. */
  workbench: 'workbench',
  logs: 'logs',
  containers: 'containers',
  pipelines: 'pipelines',
  history: 'history',
  status: 'status',
} as const;
