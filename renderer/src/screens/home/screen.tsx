import { live } from '../../api/live.ts';
import { usePlatformStatus } from '../../api/platform-status.ts';
import { ScreenFrame } from '../../shell/screen-frame.tsx';
import { useValue } from '../../value-store.ts';
import { Failing } from './failing.tsx';
import { FirstSteps } from './first-steps.tsx';
import { ServiceCard } from './service-card.tsx';
import { useServices } from './use-services.ts';
import { areStepsDone, useTour } from './use-tour.ts';

/** What runs, how it is, and how to begin. */
export default function HomeScreen() {
  const services = useServices();
  const tour = useTour();
  const areDone = areStepsDone(tour);
  const status = usePlatformStatus();
  const isAnswered = useValue(live.connection) !== 'lost' && status.data !== undefined && !status.isError;
  return (
    <ScreenFrame title="Home">
      <div className="min-h-0 flex-1 overflow-auto p-4">
        <div className="mx-auto flex max-w-6xl flex-col gap-5">
          <p className="text-muted">
            Terrarium is the whole platform on this machine: lambdas, public endpoints, containers, pipelines, and a CRM
            that catches every lead. Nothing of it leaves.
          </p>
          <Failing />
          {!areDone && <FirstSteps tour={tour} />}
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
          {areDone && <FirstSteps tour={tour} />}
        </div>
      </div>
    </ScreenFrame>
  );
}
