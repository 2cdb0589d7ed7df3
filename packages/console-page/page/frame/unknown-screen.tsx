import { Link } from '@tanstack/react-router'
import { EmptyState } from '../components/empty-state.tsx'
import { Screen } from './screen.tsx'

export function UnknownScreen() {
  return (
    <Screen title="There is nothing here">
      <EmptyState title="No screen has this address" action={<Link to="/">Go to the projects</Link>}>
        It may have been written by hand, or come from another version of the console.
      </EmptyState>
    </Screen>
  )
}
