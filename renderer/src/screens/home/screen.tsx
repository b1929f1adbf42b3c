import { useMissing } from '../../api/permissions.tsx';
import { keys } from '../../api/query-client.ts';
import { useRead } from '../../api/use-read.ts';
import { counted } from '../../components/amounts.ts';
import { preferences } from '../../preferences/preferences.ts';
import { PlaceLink } from '../../shell/place-link.tsx';
import { ScreenFrame } from '../../shell/screen-frame.tsx';
import { useValue } from '../../value-store.ts';
import { Failing } from './failing.tsx';
import { FirstSteps } from './first-steps.tsx';
import { LiveMap } from './live-map.tsx';
import { areStepsDone, areStepsOver, useTour } from './use-tour.ts';

const LEFT_CALLS = { q: 'is:left', limit: 100 };

/** The policy for calls of lambdas to other hosts, and the number of calls that have left this machine. */
function OutboundPolicy() {
  const policy = useRead(keys.outbound, '/inspect/outbound').data?.default;
  const { calls = [], next } = useRead(keys.invocations, '/inspect/outbound-calls', LEFT_CALLS).data ?? {};
  return (
    <p className="mt-1 text-muted">
      {policy === 'block'
        ? 'Calls to hosts outside this machine are blocked unless an outbound rule lets them pass.'
        : 'Calls to other hosts leave this machine unless an outbound rule blocks them.'}{' '}
      {calls.length > 0 && (
        <PlaceLink to={{ screen: 'invocations', search: { list: 'outbound', q: LEFT_CALLS.q } }}>
          {next === undefined ? '' : 'At least '}
          {counted(calls.length, 'call')} left this machine
        </PlaceLink>
      )}
    </p>
  );
}

/** Warns of a CRM form that did not reach the mock CRM, until a form arrives there. */
function UncaughtForm() {
  const [warned] =
    useRead(keys.invocations, '/inspect/outbound-calls', { q: 'is:warned caught:no', limit: 1 }).data?.calls ?? [];
  const page = useRead(keys.forms, '/inspect/forms', { q: 'is:delivered', limit: 1 }).data;
  const [lead] = page?.forms ?? [];
  // An empty page that has a next one does not say that no form arrived.
  const isUnknown = page === undefined || (!lead && page.next !== undefined);
  if (warned?.warning === undefined || isUnknown || (lead && lead.at > warned.startedAt)) return null;
  return (
    <p className="mt-1 text-warn">
      <PlaceLink
        to={{ screen: 'invocations', search: { sel: warned.executionId } }}
        className="break-words hover:underline"
      >
        {warned.warning}
      </PlaceLink>
    </p>
  );
}

/** The current failures, the live map and the first steps. A presenter shows the map alone. */
export default function HomeScreen() {
  const { isPresenting } = useValue(preferences);
  return (
    <ScreenFrame title="Home">
      <div className="relative min-h-0 flex-1 overflow-auto p-4">{isPresenting ? <LiveMap /> : <Overview />}</div>
    </ScreenFrame>
  );
}

function Overview() {
  const tour = useTour();
  // Each step needs something that a user without permissions cannot see.
  const { steps } = useValue(preferences);
  // Without the demo world in view, only root can do any of them.
  const canDoSteps = useMissing('root') === undefined || tour.hasDemo === true;
  const hasSteps =
    useMissing('lambda.view') === undefined && !tour.isLoading && canDoSteps && !areStepsOver(tour, steps);
  const areDone = areStepsDone(tour);
  return (
    <div className="mx-auto flex max-w-7xl flex-col gap-5">
      <div>
        <p className="max-w-4xl text-large">
          Terrarium runs lambdas, public endpoints, containers and pipelines on this machine, and a mock CRM receives
          the leads your lambdas send.
        </p>
        <OutboundPolicy />
        <UncaughtForm />
      </div>
      <Failing />
      {hasSteps && !areDone && <FirstSteps tour={tour} />}
      <LiveMap />
      {hasSteps && areDone && <FirstSteps tour={tour} />}
    </div>
  );
}
