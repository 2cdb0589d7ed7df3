import { Link } from '@tanstack/react-router'
import { EmptyState } from '../components/empty-state.tsx'
import { Screen } from './screen.tsx'

export function UnknownScreen() {
  return (
    <Screen title="Page not found">
      <EmptyState title="No page has this address" action={<Link to="/">Go to projects</Link>}>
        The address may be mistyped or belong to another version of the console.
      </EmptyState>
    </Screen>
  )
}
