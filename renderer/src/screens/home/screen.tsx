import { live } from '../../api/live.ts';
import { ScreenFrame } from '../../shell/screen-frame.tsx';
import { useValue } from '../../value-store.ts';
import { Failing } from './failing.tsx';
import { FirstSteps } from './first-steps.tsx';
import { ServiceCard } from './service-card.tsx';
import { useServices } from './use-services.ts';

/** What runs, how it is, and how to begin. */
export default function HomeScreen() {
  const services = useServices();
  const isKnown = useValue(live.connection) !== 'lost';
  return (
    <ScreenFrame title="Home">
      <div className="min-h-0 flex-1 overflow-auto p-4">
        <div className="mx-auto flex max-w-6xl flex-col gap-6">
          <Failing />
          <section aria-labelledby="services">
            <h2 id="services" className="eyebrow mb-2">
              Services
            </h2>
            <ul className="grid grid-cols-1 gap-3 md:grid-cols-2 xl:grid-cols-3">
              {services.map((service) => (
                <ServiceCard key={service.name} service={service} isKnown={isKnown} />
              ))}
            </ul>
          </section>
          <FirstSteps />
        </div>
      </div>
    </ScreenFrame>
  );
}
