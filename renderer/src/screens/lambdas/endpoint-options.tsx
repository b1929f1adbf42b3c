import { isJsonObject } from '../../../../server/model/json.ts';
import type { PlatformRecord } from '../../api/use-world.ts';
import { NumberField, Select, Switch } from '../../components/fields.tsx';
import { securityKeyIn } from '../gateway/endpoint-words.ts';

type Properties = PlatformRecord['properties'];

export interface EndpointOptions {
  /** Undefined: no limit. */
  perMinute: number | undefined;
  isRestricted: boolean;
  isAsynchronous: boolean;
}

export const OPEN_ENDPOINT: EndpointOptions = { perMinute: undefined, isRestricted: false, isAsynchronous: false };

const membersOf = (value: unknown): Properties => (isJsonObject(value) ? value : {});

export function optionsOf({ plugins, synchronous }: Properties): EndpointOptions {
  const { enabled, perMinute } = membersOf(membersOf(plugins).rateLimit);
  return {
    perMinute: enabled === true && typeof perMinute === 'number' ? perMinute : undefined,
    isRestricted: membersOf(membersOf(plugins)[securityKeyIn(plugins)]).enabled === true,
    isAsynchronous: synchronous === false,
  };
}

/** The properties with these options. Other members, such as the users that may call, stay. */
export function withOptions(properties: Properties, options: EndpointOptions): Properties {
  const { perMinute, isRestricted, isAsynchronous } = options;
  const before = optionsOf(properties);
  const plugins = membersOf(properties.plugins);
  const key = securityKeyIn(plugins);
  const limit = { ...membersOf(plugins.rateLimit), enabled: perMinute !== undefined, ...(perMinute && { perMinute }) };
  const nextPlugins = {
    ...plugins,
    ...(perMinute !== before.perMinute && { rateLimit: limit }),
    ...(isRestricted !== before.isRestricted && { [key]: { ...membersOf(plugins[key]), enabled: isRestricted } }),
  };
  return {
    ...properties,
    ...(Object.keys(nextPlugins).length > 0 && { plugins: nextPlugins }),
    ...(isAsynchronous !== before.isAsynchronous && { synchronous: !isAsynchronous }),
  };
}

const ACCESS = [
  { id: 'everyone', text: 'Everyone' },
  { id: 'users', text: 'Signed-in users', note: 'To choose users or groups, edit the endpoint in Resources.' },
];

interface EndpointFieldsProps {
  options: EndpointOptions;
  onChange(options: EndpointOptions): void;
}

/** Rate limit, access and response of an endpoint. */
export function EndpointFields({ options, onChange }: EndpointFieldsProps) {
  const { perMinute, isRestricted, isAsynchronous } = options;
  return (
    <>
      <div className="grid grid-cols-2 items-start gap-3">
        <NumberField
          label="Rate limit"
          unit="per minute"
          description="Empty: no limit. Calls above it get 429."
          minValue={1}
          value={perMinute ?? Number.NaN}
          onChange={(next) => onChange({ ...options, perMinute: Number.isNaN(next) ? undefined : next })}
          formatOptions={{ useGrouping: false, maximumFractionDigits: 0 }}
        />
        <Select
          label="Access"
          options={ACCESS}
          value={isRestricted ? 'users' : 'everyone'}
          onChange={(id) => onChange({ ...options, isRestricted: id === 'users' })}
        />
      </div>
      <Switch isSelected={isAsynchronous} onChange={(isOn) => onChange({ ...options, isAsynchronous: isOn })}>
        Asynchronous: respond at once with the id of the invocation
      </Switch>
    </>
  );
}
