import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { openQueryClient } from './api/query-client.ts'
import { applyStoredScheme } from './frame/scheme.ts'
import { router } from './router.tsx'
import './style/tokens.css'
import './style/base.css'
import './style/parts.css'
import './style/frame.css'

applyStoredScheme()
createRoot(document.getElementById('page')!).render(
  <StrictMode>
    <QueryClientProvider client={openQueryClient()}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
)
