import { CSPProvider } from '@base-ui/react/csp-provider'
import { QueryClientProvider, type QueryClient } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import type { openRouter } from './router.tsx'
import './style/tokens.css'
import './style/base.css'
import './style/parts.css'
import './style/frame.css'

/** The console with its styles. The address decides which screen it shows. */
export function ConsoleApp({ router, client }: { router: ReturnType<typeof openRouter>; client: QueryClient }) {
  return (
    // The policy allows no style elements.
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </CSPProvider>
  )
}
