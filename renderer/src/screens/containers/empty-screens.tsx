import { Boxes, PlugZap } from 'lucide-react';
import { useChange } from '../../api/change.ts';
import { send } from '../../api/client.ts';
import type { PlatformStatus } from '../../api/platform-status.ts';
import { keys } from '../../api/query-client.ts';
import { useScope } from '../../api/world.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState, FailureNote } from '../../parts/empty-state.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';

type Engine = PlatformStatus['engines'][number];

/** Why there is none, in one sentence. */
const whyNoEngine = (engines: readonly Engine[]) =>
  engines.find(({ reason }) => reason)?.reason ?? 'No provider of this world runs containers';

/** No engine and nothing that one could run: why, trying again, and what works all the same. */
export function NoEngine({ engines }: { engines: readonly Engine[] }) {
  return (
    <EmptyState
      icon={PlugZap}
      title="No container engine"
      text={
        <>
          <p className="break-words">{whyNoEngine(engines)}.</p>
          <p className="mt-2">
            Start Docker, or name an engine with <code>--containers-engine</code>. Meanwhile lambdas, the gateway, leads
            and pipelines work as always; containers can be created and run as soon as an engine is there.
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
      text="A container is created in an environment: here, by the API, by a seed, or by a pipeline that deploys an app."
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
        No container engine answers: {whyNoEngine(engines)}. Containers stay as they are and run as soon as one does;
        lambdas and the gateway go on.
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
      <Button isPending={retry.isPending} onPress={() => retry.mutate()}>
        {retry.isPending ? 'Asking ...' : 'Try again'}
      </Button>
      <FailureNote error={retry.error} />
    </>
  );
}
