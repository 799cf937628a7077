"""What every topic model shares: chains of topics, streams of documents, and how topics are judged and matched."""
