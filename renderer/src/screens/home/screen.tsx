import { live } from '../../api/live.ts';
import { useMissing } from '../../api/permissions.tsx';
import { usePlatformStatus } from '../../api/platform-status.ts';
import { keys } from '../../api/query-client.ts';
import { useRead } from '../../api/read.ts';
import { counted } from '../../components/amounts.ts';
import { Skeleton } from '../../components/skeleton.tsx';
import { preferences } from '../../preferences/preferences.ts';
import { PlaceLink } from '../../shell/place-link.tsx';
import { ScreenFrame } from '../../shell/screen-frame.tsx';
import { useValue } from '../../value-store.ts';
import { Failing } from './failing.tsx';
import { FirstSteps } from './first-steps.tsx';
import { FormPath } from './form-path.tsx';
import { ServiceCard } from './service-card.tsx';
import { useServices } from './use-services.ts';
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

/** The services with their state, and the first steps. */
export default function HomeScreen() {
  const services = useServices();
  const tour = useTour();
  // Each step needs something that a user without permissions cannot see.
  const { steps } = useValue(preferences);
  // Without the demo world in view, only root can do any of them.
  const canDoSteps = useMissing('root') === undefined || tour.hasDemo === true;
  const hasSteps =
    useMissing('lambda.view') === undefined && !tour.isLoading && canDoSteps && !areStepsOver(tour, steps);
  const areDone = areStepsDone(tour);
  const status = usePlatformStatus();
  const isAnswered = useValue(live.connection) !== 'lost' && status.data !== undefined && !status.isError;
  return (
    <ScreenFrame title="Home">
      <div className="min-h-0 flex-1 overflow-auto p-4">
        <div className="mx-auto flex max-w-6xl flex-col gap-5">
          <div>
            <p className="max-w-4xl text-large">
              Terrarium runs lambdas, public endpoints, containers and pipelines on this machine, and a mock CRM
              receives the leads your lambdas send.
            </p>
            <OutboundPolicy />
          </div>
          {tour.isLoading ? <Skeleton label="Loading the path of the form" rows={1} /> : <FormPath tour={tour} />}
          <Failing />
          {hasSteps && !areDone && <FirstSteps tour={tour} />}
          <section aria-labelledby="services">
            <h2 id="services" className="eyebrow mb-2">
              Services
            </h2>
            <ul className="grid grid-cols-1 gap-3 md:grid-cols-2 xl:grid-cols-3">
              {services.map((service) => (
                <ServiceCard key={service.name} service={service} isKnown={isAnswered} />
              ))}
            </ul>
          </section>
          {hasSteps && areDone && <FirstSteps tour={tour} />}
        </div>
      </div>
    </ScreenFrame>
  );
}
