import { useMemo } from 'react';
import { useAllOfType } from '../../api/all-of-type.ts';
import { useTraffic } from '../../api/traffic.ts';
import { referenceId } from '../../api/world.ts';
import { useNowMs } from '../../parts/amount.tsx';
import { Copy } from '../../parts/copy.tsx';
import { ErrorState } from '../../parts/empty-state.tsx';
import { Meter } from '../../parts/meter.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { limitOf, recentCounts } from './endpoint-limits.ts';

/** The public endpoints: methods, address, target, and how much of the limit is used. */
export function EndpointsTable() {
  const endpoints = useAllOfType('apiendpoints');
  const { rows: requests } = useTraffic({ plane: 'gateway' });
  const nowMs = useNowMs();
  const counts = useMemo(() => recentCounts(requests, nowMs), [requests, nowMs]);
  return (
    <section aria-label="Endpoints" className="max-h-[42%] shrink-0 overflow-auto border-b border-line bg-panel">
      {endpoints.error ? (
        <ErrorState error={endpoints.error} onRetry={endpoints.refetch} />
      ) : endpoints.records.length === 0 && !endpoints.isPending ? (
        <p className="px-4 py-3 text-muted">
          Nothing is published yet: an endpoint of an API gives a lambda or a container a public address.
        </p>
      ) : (
        <table className="w-full">
          <thead>
            <tr className="h-7 text-left text-[11.5px] text-faint">
              <th className="px-3.5 font-normal">Methods</th>
              <th className="px-2 font-normal">Public address</th>
              <th className="px-2 font-normal">Target</th>
              <th className="px-2 font-normal">Limit</th>
            </tr>
          </thead>
          <tbody>
            {endpoints.records.map((endpoint) => {
              const {
                methods,
                public_url: url,
                implementation_type: kind,
                implementation_id: target,
              } = endpoint.properties;
              const limit = limitOf(endpoint);
              const targetId = referenceId(target);
              return (
                <tr key={endpoint.id} className="h-[30px] border-t border-line/55">
                  <td className="px-3.5 whitespace-nowrap">{Array.isArray(methods) ? methods.join(' ') : 'any'}</td>
                  <td className="px-2">
                    <span className="mono flex items-center">
                      {typeof url === 'string' ? url : '-'}
                      {typeof url === 'string' && <Copy text={url} what="public address" className="scale-90" />}
                    </span>
                  </td>
                  <td className="px-2">
                    {targetId && (
                      <PlaceLink to={{ screen: kind === 'lambda' ? 'lambdas' : 'containers', id: targetId }}>
                        {String(kind)}
                      </PlaceLink>
                    )}{' '}
                    <PlaceLink to={{ screen: 'resources', id: endpoint.id }} className="text-muted hover:text-text">
                      {endpoint.name}
                    </PlaceLink>
                  </td>
                  <td className="px-2 whitespace-nowrap">
                    {limit === undefined ? (
                      <span className="text-faint">none</span>
                    ) : (
                      <Meter
                        label={`Requests of ${endpoint.name} in the last minute`}
                        value={counts.get(endpoint.id) ?? 0}
                        max={limit}
                        text={`${counts.get(endpoint.id) ?? 0}/${limit} a minute`}
                      />
                    )}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
    </section>
  );
}
