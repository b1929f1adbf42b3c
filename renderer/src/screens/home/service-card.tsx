import { Copy } from '../../components/copy.tsx';
import { Sparkline } from '../../components/sparkline.tsx';
import { State } from '../../components/state.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { screens } from '../registry.ts';
import type { Service } from './use-services.ts';

/** One service: where it is, how it is, what it does, what went wrong last. @param isKnown can the platform be asked now? */
export function ServiceCard({ service, isKnown }: { service: Service; isKnown: boolean }) {
  const {
    name,
    location,
    condition,
    stateText,
    address,
    facts,
    counted = ['request', 'requests'],
    perMinute,
    lastError,
    withheld,
  } = service;
  const Icon = screens[location.screen].icon;
  const now = perMinute?.at(-1) ?? 0;
  const isQuiet = perMinute?.every((count) => count === 0) ?? true;
  return (
    <li className="card flex flex-col overflow-hidden">
      <div className="flex items-center gap-2 px-3.5 pt-3">
        <Icon aria-hidden size={15} strokeWidth={1.7} className="text-muted" />
        <h3 className="font-semibold">
          <PlaceLink to={location} className="hover:text-accent">
            {name}
          </PlaceLink>
        </h3>
        <span className="ml-auto">
          <State is={condition}>{stateText}</State>
        </span>
      </div>
      <div className="flex h-7 items-center px-3.5">
        {address ? (
          <>
            <span className="mono truncate text-muted">{address}</span>
            <Copy text={address} subject={`address of ${name}`} className="scale-90" />
          </>
        ) : undefined}
      </div>
      <p className="truncate px-3.5 pb-2 text-muted">{facts}</p>
      <div className="mt-auto">
        {perMinute && !(isQuiet && withheld !== undefined) && (
          <div className="px-3.5 pb-1">
            <Sparkline label={`${name}: ${counted[1]} a minute`} values={isQuiet ? [] : perMinute} />
            <p className="flex justify-between text-small text-faint">
              {isQuiet ? (
                <span>
                  no {counted[1]} in the last {perMinute.length} minutes
                </span>
              ) : (
                <>
                  <span>{perMinute.length} min ago</span>
                  <span>
                    {now} {counted[now === 1 ? 0 : 1]} in this minute
                  </span>
                </>
              )}
            </p>
          </div>
        )}
        <p className="flex min-h-8 items-center border-t border-line px-3.5 text-small">
          {lastError ? (
            <PlaceLink to={lastError.location} className="truncate text-error hover:underline">
              {lastError.text}
            </PlaceLink>
          ) : (
            <span className="py-1.5 text-faint">{withheld ?? (isKnown ? 'No errors' : 'Unknown')}</span>
          )}
        </p>
      </div>
    </li>
  );
}
