import { screen, within } from '@testing-library/react';
import { createTransport, type SendMailOptions } from 'nodemailer';
import { beforeAll, expect, it } from 'vitest';
import { sharedPlatform } from '../../../testing/platform.mjs';
import { renderWindow, user } from '../../../testing/render-window.tsx';

const platform = sharedPlatform();

async function sendMail(mail: SendMailOptions): Promise<void> {
  const { hostname, port } = new URL(platform.emulator.smtpUrl);
  const transport = createTransport({ host: hostname, port: Number(port), tls: { rejectUnauthorized: false } });
  await transport.sendMail({ from: 'Shop <shop@example.com>', to: 'ada@example.com', ...mail });
}

beforeAll(async () => {
  await sendMail({
    subject: 'Your order',
    text: 'It costs 5 EUR',
    attachments: [{ filename: 'bill.txt', content: 'x' }],
  });
  await sendMail({ subject: 'Reset your password', to: 'bob@example.com', text: 'Click here', html: '<b>Click</b>' });
});

const subjects = async () =>
  (await within(await screen.findByRole('grid', { name: 'Mails' })).findAllByRole('row'))
    .slice(1)
    .map((row) => row.textContent);

it('lists mails, the newest first, and finds them by their text', async () => {
  await renderWindow(platform, 'mails');
  expect(await subjects()).toEqual([
    expect.stringContaining('Reset your password'),
    expect.stringContaining('Your order'),
  ]);
});

it('finds mails by their text', async () => {
  await renderWindow(platform, 'mails?q=5+eur');
  expect(await subjects()).toEqual([expect.stringContaining('Your order')]);
});

it('shows addresses, text, attachments and source of a mail', async () => {
  await renderWindow(platform, 'mails?q=order');
  await user.click(await screen.findByText('Your order'));
  const detail = within(await screen.findByRole('region', { name: 'Mail' }));
  await detail.findByText('Shop <shop@example.com>');
  await detail.findByText(/It costs 5 EUR/, { selector: 'pre' });
  await detail.findByRole('button', { name: /bill\.txt.*1 B/ });
  expect(detail.queryByRole('tab', { name: 'HTML' })).toBeNull();
  await user.click(detail.getByRole('tab', { name: 'Source' }));
  await detail.findByText(/^From: Shop <shop@example.com>/, { selector: 'pre' });
});
