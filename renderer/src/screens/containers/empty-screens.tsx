import { Boxes, PlugZap } from 'lucide-react';
import { send } from '../../api/client.ts';
import { keys } from '../../api/query-client.ts';
import { useChange } from '../../api/use-change.ts';
import type { PlatformStatus } from '../../api/use-platform-status.ts';
import { useScope } from '../../api/use-world.ts';
import { Button } from '../../components/button.tsx';
import { EmptyState, FailureNote } from '../../components/empty-state.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { capital } from '../invocations/failure-words.ts';

type Engine = PlatformStatus['engines'][number];

/** Returns the reason that there is no engine, in one sentence. Only users who view the whole platform learn the engine's message. */
function noEngineReason(engines: readonly Engine[]): string {
  const knownReason = engines.find(({ reason }) => reason)?.reason;
  if (knownReason !== undefined || engines.length === 0)
    return knownReason ?? 'no provider in this world runs containers';
  return engines.every(({ state }) => state === 'off')
    ? 'the platform is set to run without a container engine'
    : 'the container engine does not respond';
}

/** No engine and nothing that one could run: why, trying again, and what works all the same. */
export function NoEngine({ engines }: { engines: readonly Engine[] }) {
  return (
    <EmptyState
      icon={PlugZap}
      title="No container engine"
      text={
        <>
          <p className="break-words">{capital(noEngineReason(engines))}.</p>
          <p className="mt-2">
            Start Docker, or name an engine with <code>--containers-engine</code>. Lambdas, the gateway and leads work
            without an engine. You can create containers; they start when an engine is available. Apps that a pipeline
            deploys need an engine.
          </p>
        </>
      }
    >
      <RetryEngine />
    </EmptyState>
  );
}

/** None yet: the next thing to do. */
export function NoContainers() {
  const { scope } = useScope();
  return (
    <EmptyState
      icon={Boxes}
      title="No containers yet"
      text="Create a container in an environment: here, with the API, in a seed, or with a pipeline that deploys an app."
    >
      <PlaceLink to={{ screen: 'resources', id: scope.id }}>Create one in an environment</PlaceLink>
      <PlaceLink to={{ screen: 'pipelines' }}>Deploy an app with a pipeline</PlaceLink>
    </EmptyState>
  );
}

/** Records there are, yet nothing that runs them. */
export function NoEngineBanner({ engines }: { engines: readonly Engine[] }) {
  return (
    <div role="status" className="flex items-center gap-3 border-b border-warn/40 bg-warn-soft px-3.5 py-1.5">
      <p className="min-w-0 flex-1">
        No container engine responds: {noEngineReason(engines)}. Containers keep their state and start when an engine
        responds. Lambdas and the gateway keep working.
      </p>
      <RetryEngine />
    </div>
  );
}

/** Asks engines that are away at once, and not when their turn comes. */
function RetryEngine() {
  const retry = useChange(() => send('POST', '/inspect/engines/retry'), { topic: keys.status });
  return (
    <>
      <Button needs="all" isPending={retry.isPending} onPress={() => retry.mutate()}>
        {retry.isPending ? 'Asking ...' : 'Try again'}
      </Button>
      <FailureNote error={retry.error} />
    </>
  );
}
