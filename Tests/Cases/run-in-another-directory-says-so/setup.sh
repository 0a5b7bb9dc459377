mkdir below
