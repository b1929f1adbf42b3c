import { render, screen } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { useState } from 'react';
import { expect, it } from 'vitest';
import { PropertyForm } from './property-form.tsx';
import type { Editable } from './resource-patch.ts';

const SCHEMA = { type: 'object', properties: { cron: { type: 'string' }, timezone: { type: 'string' } } };
const EMPTY: Editable = { name: 'nightly', properties: {} };

function Form() {
  const [value, setValue] = useState(EMPTY);
  const fixed = { schema: SCHEMA, subType: undefined, placeId: undefined, errors: [], before: EMPTY };
  return <PropertyForm {...fixed} value={value} onChange={setValue} />;
}

it('keeps the focus in an optional property while its first value is typed', async () => {
  render(<Form />);
  expect(screen.queryByLabelText('Timezone')).toBeNull();
  await userEvent.click(screen.getByText('2 more properties'));
  const field = await screen.findByLabelText('Timezone');
  await userEvent.type(field, 'UTC');
  expect(document.activeElement).toBe(field);
  expect(field).toHaveProperty('value', 'UTC');
});
