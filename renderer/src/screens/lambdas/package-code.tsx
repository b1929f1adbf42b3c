import type { PlatformRecord } from '../../api/world.ts';
import { KeyValue } from '../../parts/key-value.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';

/** Code that comes from elsewhere: where from, and what of it is run. It is not edited here. */
export function PackageCode({ lambda }: { lambda: PlatformRecord }) {
  const { package_url, compressed, handler } = lambda.properties;
  const url = String(package_url);
  const isArchive = compressed === true || compressed === 'true';
  return (
    <div className="flex max-w-prose flex-col gap-3 p-4">
      <p>
        The code of this lambda is a package. It is fetched when the lambda is run, so it cannot be edited here: change
        it where it is made, and run the lambda again.
      </p>
      <KeyValue
        nameWidth={150}
        rows={[
          { name: 'Package', value: url, copy: url, isMono: true },
          {
            name: 'Form',
            value: isArchive ? 'a zip archive, unpacked before it is run' : 'one file, run as it is',
          },
          { name: 'What is called', value: String(handler), isMono: true },
        ]}
      />
      <p className="text-muted">
        Address, form and handler are properties of the{' '}
        <PlaceLink to={{ screen: 'resources', id: lambda.id }}>resource</PlaceLink>. If the package cannot be had, or
        has no such handler, the next run says so in the console.
      </p>
    </div>
  );
}
