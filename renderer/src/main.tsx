import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from './api/query-client.ts';
import { openSession } from './api/session.ts';
import { Toasts } from './components/toasts.tsx';
import { listenToKeys } from './keys/use-keys.ts';
import { followTheme } from './preferences/preferences.ts';
import { router } from './router.tsx';
import { Gate } from './shell/gate.tsx';
import './styles/app.css';

followTheme();
listenToKeys();
void openSession();

const root = document.getElementById('root');
if (!root) throw new Error('the page has no #root');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <Gate>
        <RouterProvider router={router} />
      </Gate>
      <Toasts />
    </QueryClientProvider>
  </StrictMode>,
);
