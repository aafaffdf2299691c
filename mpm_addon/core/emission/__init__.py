"""From emitters to particles, the particles that emitters hold on to, and outflows."""
