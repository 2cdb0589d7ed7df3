import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { openQueryClient } from './api/query-client.ts'
import { ConsoleApp } from './console-app.tsx'
import { applyStoredScheme } from './frame/scheme.ts'
import { openRouter } from './router.tsx'

applyStoredScheme()
createRoot(document.getElementById('page')!).render(
  <StrictMode>
    <ConsoleApp router={openRouter()} client={openQueryClient()} />
  </StrictMode>,
)
